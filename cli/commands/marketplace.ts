import type { Answer, Item } from '../../client/client.ts';
import { command, type Group, type ServerCommand } from '../command.ts';
import { shortTime } from '../moments.ts';
import { readId } from '../names.ts';
import { type Columns, list, one } from '../output.ts';
import { SERVER_COMMANDS } from '../server-commands.gen.ts';
import { addSecret, installer, retireSecret } from './marketplace-changes.ts';
import {
  amountOf,
  events,
  installers,
  secrets,
  strangers,
  subscriptions,
  summary,
  taken,
} from './marketplace-lists.ts';
import { deliveryFilters, filterOf, redeliver } from './marketplace-redeliver.ts';
import { send } from './marketplace-send.ts';

type Delivery = Item<'GET /admin/marketplace/deliveries'>;
type Detail = Answer<'GET /admin/marketplace/deliveries/{id}'>;
const id = { about: 'ID of the delivery' } as const;

const columns: Columns<Delivery> = {
  id: (row) => row.id,
  last: (row) => shortTime(row.last_at),
  marketplace: (row) => row.marketplace,
  event: (row) => row.event_type,
  state: (row) => row.state,
  reason: (row) => row.reason,
  status: (row) => row.status,
  times: (row) => row.times,
  subject: (row) => row.subject,
};
const fields: Columns<Detail> = {
  ...(columns as unknown as Columns<Detail>),
  message: (row) => row.message,
  received: (row) => shortTime(row.received_at),
  done: (row) => shortTime(row.done_at),
  attempts: (row) => row.attempts,
  source: (row) => row.source,
  request: (row) => row.request_id,
};

/** A command that only the server's own program can run, described in that program's own words. */
function onServer(name: string, summary: string, further: readonly string[]): ServerCommand {
  const told = SERVER_COMMANDS.find((one) => one.name === 'marketplace');
  const usage = told?.usage.filter((line) => line.startsWith(`marketplace ${name} `)) ?? [];
  const isUsed = (option: string) => further.includes(option) || usage.some((line) => line.includes(`[${option}`));
  return { summary, usage, options: told?.options?.filter((option) => isUsed(option.name)) ?? [], onServer: true };
}

export const marketplace: Group = {
  summary: 'manage deliveries, installers, subscriptions and secrets of marketplaces, for site administrators',
  commands: {
    deliveries: command({
      summary: 'list the deliveries of marketplaces and their outcomes, newest first',
      options: {
        ...deliveryFilters,
        ...amountOf('deliveries'),
      },
      examples: [
        'atrium marketplace deliveries --since 7d',
        'atrium marketplace deliveries --outcome dead --marketplace cloudB',
        'atrium marketplace deliveries --watch --interval 30',
      ],
      watch: { newestFirst: true },
      async run(session, { options }) {
        const query = filterOf(options);
        const found = await taken(options, (page) =>
          session.client().each('GET /admin/marketplace/deliveries', { query: { ...query, ...page } }),
        );
        return list(found, columns, 'none');
      },
    }),
    show: command({
      summary: 'show a delivery; with --json, also its payload',
      args: { id },
      examples: ['atrium marketplace show 17', 'atrium marketplace show 17 --json'],
      watch: {},
      async run(session, { args }) {
        const path = { id: readId(args.id) };
        return one(await session.client().call('GET /admin/marketplace/deliveries/{id}', { path }), fields);
      },
    }),
    redeliver,
    send,
    installers,
    installer,
    subscriptions,
    secrets,
    'add-secret': addSecret,
    'retire-secret': retireSecret,
    strangers,
    events,
    summary,
    log: onServer('log', 'list deliveries, and callers that failed to authenticate', ['--strangers']),
    secret: onServer('secret', 'add or retire a secret of a marketplace', ['--secret-file']),
  },
};
