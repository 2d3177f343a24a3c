import type { Answer } from '../../client/client.ts';
import { changesIn } from '../changes.ts';
import { command, type Group } from '../command.ts';
import { misuse, rejected } from '../failure.ts';
import { momentIn, shortTime } from '../moments.ts';
import { type Columns, list, one, said, verbatim } from '../output.ts';
import type { Session } from '../session.ts';
import { confirm } from '../terminal.ts';
import { type WebhookCalls, webhookCalls } from '../webhook-calls.ts';

type Webhook = Answer<'GET /orgs/{org}/webhooks/{id}'>;
type Delivery = Answer<'GET /orgs/{org}/webhooks/{id}/deliveries'>[number];

const webhook_ = { about: 'ID, name or URL of the webhook' } as const;
const site = { site: { about: 'a webhook of the whole deployment, for site administrators' } } as const;
const sending = {
  name: { about: 'a name that is unique in the organization; for a new webhook, its host by default', value: 'NAME' },
  type: {
    about: 'what it hears of: team.*, or an action such as role.update; * by default',
    value: 'TYPE',
    many: true,
  },
  cloudevents: { about: 'send messages as CloudEvents' },
} as const;

const stateOf = ({ active, disabled_reason: why }: Webhook) => (active ? 'active' : `inactive${why ? `: ${why}` : ''}`);
const columns: Columns<Webhook> = {
  id: (row) => row.id,
  name: (row) => row.name,
  url: (row) => row.url,
  types: (row) => row.types,
  state: stateOf,
  'last delivery': (row) => shortTime(row.last_delivery_at),
};
const fields: Columns<Webhook> = {
  id: (row) => row.id,
  name: (row) => row.name,
  url: (row) => row.url,
  types: (row) => row.types,
  format: (row) => row.format,
  state: stateOf,
  'rights of': (row) => row.created_by.name,
  created: (row) => shortTime(row.created_at),
  'last delivery': (row) => shortTime(row.last_delivery_at),
};
const deliveryColumns: Columns<Delivery> = {
  id: (row) => row.id,
  event: (row) => row.event,
  type: (row) => row.type,
  state: (row) => row.state,
  attempts: (row) => row.attempts.length,
  last: (row) => {
    const last = row.attempts.at(-1);
    return last ? String(last.status ?? last.error) : '';
  },
  created: (row) => shortTime(row.created_at),
  next: (row) => shortTime(row.next_attempt_at),
};

async function find(calls: WebhookCalls, text: string): Promise<Webhook> {
  const all = await calls.list();
  // A word of digits is an ID.
  const isNamed = ({ id, name, url }: Webhook) =>
    /^\d+$/.test(text) ? String(id) === text : name.toLowerCase() === text.toLowerCase() || url === text;
  const found = all.filter(isNamed);
  const [only] = found;
  if (only && found.length === 1) return only;
  throw rejected(
    found.length > 1
      ? `several webhooks have this URL; use a name or an ID`
      : `there is no webhook ${JSON.stringify(text)}`,
  );
}

function changed(values: {
  readonly name?: string | undefined;
  readonly type: readonly string[];
  readonly cloudevents: boolean;
}) {
  return {
    ...(values.name !== undefined && { name: values.name }),
    ...(values.type.length > 0 && { types: [...values.type] }),
    ...(values.cloudevents && { format: 'cloudevents' }),
  };
}

/** The secret alone goes to standard output, so that it can be piped. */
function showSecret(session: Session, made: Webhook, what: string) {
  session.screen.note(`${what} the webhook ${made.name}; this is its secret, which is not shown again:`);
  return verbatim(made.secret ?? '', made);
}

export const webhook: Group = {
  summary: 'send other systems what changes',
  commands: {
    list: command({
      summary: 'list the webhooks of the organization',
      options: site,
      examples: ['atrium webhook list --org acme', 'atrium webhook list --site'],
      watch: {},
      async run(session, { options }) {
        return list(await webhookCalls(session, options.site).list(), columns, 'none');
      },
    }),
    get: command({
      summary: 'show a webhook',
      args: { webhook: webhook_ },
      options: site,
      examples: ['atrium webhook get siem', 'atrium webhook get 3'],
      watch: {},
      async run(session, { args, options }) {
        return one(await find(webhookCalls(session, options.site), args.webhook), fields);
      },
    }),
    create: command({
      summary: 'create a webhook, and print its secret',
      args: { url: { about: 'https address of the receiver' } },
      options: { ...site, ...sending, inactive: { about: 'send nothing before it is activated' } },
      examples: ["atrium webhook create https://hooks.example.com/in --name siem --type 'team.*' --type role.update"],
      async run(session, { args, options }) {
        const body = { url: args.url, ...changed(options), ...(options.inactive && { active: false }) };
        return showSecret(session, await webhookCalls(session, options.site).create(body), 'created');
      },
    }),
    update: command({
      summary: 'change a webhook; its events are then what you may see',
      args: { webhook: webhook_ },
      options: {
        ...site,
        ...sending,
        url: { about: 'https address of the receiver', value: 'URL' },
        standard: { about: 'send messages as Standard Webhooks, as is the default' },
        activate: { about: 'send what happens from now on' },
        deactivate: { about: 'send nothing any more' },
      },
      examples: ['atrium webhook update 3 --activate'],
      async run(session, { args, options }) {
        const calls = webhookCalls(session, options.site);
        const { id } = await find(calls, args.webhook);
        if (options.activate && options.deactivate) throw misuse('use --activate or --deactivate, not both');
        if (options.standard && options.cloudevents) throw misuse('use --standard or --cloudevents, not both');
        const active = options.activate ? { active: true } : options.deactivate ? { active: false } : {};
        const url = options.url === undefined ? {} : { url: options.url };
        const format = options.standard ? { format: 'standard' } : {};
        const changes = changesIn({ ...changed(options), ...format, ...url, ...active }, 'webhook update');
        return one(await calls.update(id, changes), fields);
      },
    }),
    rotate: command({
      summary: 'replace the secret of a webhook, and print it; the former one signs for a day, too',
      args: { webhook: webhook_ },
      options: site,
      examples: ['atrium webhook rotate 3'],
      async run(session, { args, options }) {
        const calls = webhookCalls(session, options.site);
        const { id } = await find(calls, args.webhook);
        return showSecret(session, await calls.update(id, { secret: null }), 'changed');
      },
    }),
    delete: command({
      summary: 'delete a webhook',
      args: { webhook: webhook_ },
      options: site,
      examples: ['atrium webhook delete 3 --yes'],
      async run(session, { args, options }) {
        const calls = webhookCalls(session, options.site);
        const { id, name } = await find(calls, args.webhook);
        await confirm(session, `Delete the webhook ${name}?`);
        await calls.remove(id);
        return said(`deleted the webhook ${name}`);
      },
    }),
    test: command({
      summary: 'send a test message now',
      details: 'Exits 1 if the receiver does not accept it.',
      args: { webhook: webhook_ },
      options: site,
      examples: ['atrium webhook test 3'],
      async run(session, { args, options }) {
        const calls = webhookCalls(session, options.site);
        const { id } = await find(calls, args.webhook);
        const { ok, status, error, duration_ms: took } = await calls.test(id);
        const answer = status === null ? `no answer: ${error}` : `the receiver answered ${status}`;
        if (!ok) throw rejected(`${answer}, after ${took} ms`);
        return said(`${answer}, after ${took} ms`);
      },
    }),
    deliveries: command({
      summary: 'list what was sent to a webhook, or will be; the newest first',
      args: { webhook: webhook_ },
      options: { ...site, state: { about: 'pending, delivered, failed or withheld', value: 'STATE' } },
      examples: ['atrium webhook deliveries 3 --state failed'],
      watch: {},
      async run(session, { args, options }) {
        const calls = webhookCalls(session, options.site);
        const { id } = await find(calls, args.webhook);
        return list(await calls.deliveries(id, options.state), deliveryColumns, 'none');
      },
    }),
    redeliver: command({
      summary: 'send one delivery again, or all events since a time',
      args: { webhook: webhook_, delivery: { about: 'ID of the delivery', optional: true } },
      options: { ...site, since: { about: 'send all events since then, such as 2h or 2026-11-18', value: 'WHEN' } },
      examples: ['atrium webhook redeliver 3 dlv_118', 'atrium webhook redeliver 3 --since 2h'],
      async run(session, { args, options }) {
        const calls = webhookCalls(session, options.site);
        const { id } = await find(calls, args.webhook);
        if (args.delivery !== undefined && options.since === undefined) {
          const { event } = await calls.redeliver(id, args.delivery);
          return said(`${event} will be sent again`);
        }
        if (args.delivery !== undefined || options.since === undefined) {
          throw misuse('name a delivery, or use --since WHEN');
        }
        const { queued } = await calls.redeliverSince(id, momentIn(options.since, -1));
        return said(`${queued} events will be sent again`);
      },
    }),
  },
};
