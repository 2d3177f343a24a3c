import type { Answer, Item } from '../../client/client.ts';
import { wholeNumber } from '../changes.ts';
import { command } from '../command.ts';
import { MARKETPLACES } from '../marketplaces.gen.ts';
import { shortTime } from '../moments.ts';
import { type Columns, list, one } from '../output.ts';

type Installer = Item<'GET /admin/marketplace/installers'>;
type Subscription = Item<'GET /admin/marketplace/subscriptions'>;
type Secret = Answer<'GET /admin/marketplace/secrets'>[number];
type Stranger = Item<'GET /admin/marketplace/strangers'>;
type Event = Item<'GET /admin/marketplace/events'>;
type Summary = Answer<'GET /admin/marketplace/summary'>;

const USUAL = 30;
const PAGE = 200;

export const onlyOf = { about: 'only this marketplace', value: 'NAME', choices: MARKETPLACES } as const;

/** As the API writes it. */
export function fullNameOf<Name extends string>(name: Name): Capitalize<Name>;
export function fullNameOf<Name extends string>(name: Name | undefined): Capitalize<Name> | undefined;
export function fullNameOf<Name extends string>(name: Name | undefined): Capitalize<Name> | undefined {
  return name && ((name.charAt(0).toUpperCase() + name.slice(1)) as Capitalize<Name>);
}

/** Of a list of installers, and of a single one. */
export const installerColumns: Columns<Installer> = {
  id: (row) => row.id,
  marketplace: (row) => row.marketplace,
  state: (row) => row.state,
  test: (row) => row.is_test,
  created: (row) => shortTime(row.created_at),
  expires: (row) => shortTime(row.expires_at),
  organization: (row) => row.binding?.organization?.name,
  subscription: (row) => row.binding?.subscription_id,
};

/** The options of a list that can be long. */
export function amountOf<const Things extends string>(things: Things) {
  return {
    limit: { about: `maximum number of ${things}; ${USUAL} by default`, value: 'N' },
    all: { about: `list all ${things}` },
  } as const;
}

interface Amount {
  readonly limit: string | undefined;
  readonly all: boolean;
}

/** Reads pages until there are as many rows as the options ask for. */
export async function taken<Row>(
  { limit, all }: Amount,
  read: (page: { limit: number }) => AsyncIterable<Row>,
): Promise<Row[]> {
  const most = all ? Number.POSITIVE_INFINITY : (wholeNumber(limit, '--limit') ?? USUAL);
  const found: Row[] = [];
  if (most === 0) return found;
  for await (const row of read({ limit: Math.min(most, PAGE) })) {
    found.push(row);
    if (found.length >= most) break;
  }
  return found;
}

export const installers = command({
  summary: 'list installers, newest first',
  options: {
    marketplace: onlyOf,
    state: { about: 'only this state', value: 'STATE', choices: ['unbound', 'expired', 'bound', 'spent'] },
    search: { about: 'only if the ID, organization, cluster or account contains this text', value: 'TEXT' },
    ...amountOf('installers'),
  },
  examples: ['atrium marketplace installers --state unbound', 'atrium marketplace installers --search acme'],
  watch: { newestFirst: true },
  async run(session, { options }) {
    const { state, search: q } = options;
    const marketplace = fullNameOf(options.marketplace);
    const found = await taken(options, (page) =>
      session.client().each('GET /admin/marketplace/installers', { query: { marketplace, state, q, ...page } }),
    );
    return list(found, installerColumns, 'none');
  },
});

export const subscriptions = command({
  summary: 'list subscriptions, newest first',
  options: {
    marketplace: onlyOf,
    state: {
      about: 'only this state',
      value: 'STATE',
      choices: ['Pending', 'Running', 'Failed', 'Bound', 'Deleting', 'DeletionFailed', 'Deleted'],
    },
    search: { about: 'only if the ID of the application contains this text', value: 'TEXT' },
    ...amountOf('subscriptions'),
  },
  examples: ['atrium marketplace subscriptions', 'atrium marketplace subscriptions --state Failed'],
  watch: { newestFirst: true },
  async run(session, { options }) {
    const columns: Columns<Subscription> = {
      id: (row) => row.id,
      marketplace: (row) => row.marketplace,
      state: (row) => row.state,
      updated: (row) => shortTime(row.updated_at),
      application: (row) => row.application_id,
    };
    const { state, search: q } = options;
    const marketplace = fullNameOf(options.marketplace);
    const found = await taken(options, (page) =>
      session.client().each('GET /admin/marketplace/subscriptions', { query: { marketplace, state, q, ...page } }),
    );
    return list(found, columns, 'none');
  },
});

export const secrets = command({
  summary: 'list the live secrets of marketplaces, by fingerprint',
  details: 'A secret itself is never shown. Those from the settings have no time; they are retired there.',
  examples: ['atrium marketplace secrets'],
  watch: {},
  async run(session) {
    const columns: Columns<Secret> = {
      fingerprint: (row) => row.fingerprint,
      marketplace: (row) => row.marketplace,
      source: (row) => row.source,
      added: (row) => (row.added_at ? shortTime(row.added_at) : ''),
    };
    return list(await session.client().call('GET /admin/marketplace/secrets', {}), columns, 'none');
  },
});

export const strangers = command({
  summary: 'list callers that were rejected and only counted, by day',
  options: { marketplace: onlyOf, ...amountOf('lines') },
  examples: ['atrium marketplace strangers --marketplace cloudA'],
  watch: { newestFirst: true },
  async run(session, { options }) {
    const columns: Columns<Stranger> = {
      day: (row) => row.day,
      marketplace: (row) => row.marketplace,
      reason: (row) => row.reason,
      source: (row) => row.source,
      times: (row) => row.times,
      last: (row) => shortTime(row.last_at),
    };
    const marketplace = fullNameOf(options.marketplace);
    const found = await taken(options, (page) =>
      session.client().each('GET /admin/marketplace/strangers', { query: { marketplace, ...page } }),
    );
    return list(found, columns, 'none');
  },
});

export const events = command({
  summary: 'list the events of the outbox, newest first',
  details: 'With --json, also the data of each event.',
  options: {
    state: { about: 'only this state', value: 'STATE', choices: ['waiting', 'sent', 'dead'] },
    type: { about: 'only this type, such as installer.bound', value: 'TYPE' },
    ...amountOf('events'),
  },
  examples: ['atrium marketplace events --state dead', 'atrium marketplace events --type installer.bound --json'],
  watch: { newestFirst: true },
  async run(session, { options }) {
    const columns: Columns<Event> = {
      id: (row) => row.id,
      created: (row) => shortTime(row.created_at),
      type: (row) => row.type,
      state: (row) => row.state,
      attempts: (row) => row.attempts,
      sent: (row) => shortTime(row.sent_at),
    };
    const { state, type } = options;
    const found = await taken(options, (page) =>
      session.client().each('GET /admin/marketplace/events', { query: { state, type, ...page } }),
    );
    return list(found, columns, 'none');
  },
});

export const summary = command({
  summary: 'count deliveries, installers, subscriptions and events by state',
  examples: ['atrium marketplace summary', 'atrium marketplace summary --json=deliveries.dead'],
  watch: {},
  async run(session) {
    const fields: Columns<Summary> = {
      deliveries: (row) => counted(row.deliveries),
      'oldest waiting delivery': (row) => (row.oldest_waiting_at ? shortTime(row.oldest_waiting_at) : 'none'),
      installers: (row) => counted(row.installers),
      subscriptions: (row) => counted(row.subscriptions),
      events: (row) => counted(row.events),
      'oldest waiting event': (row) => (row.oldest_event_at ? shortTime(row.oldest_event_at) : 'none'),
      'last delivery': (row) =>
        row.marketplaces.map((each) => `${each.marketplace} ${shortTime(each.last_delivery_at)}`),
      secrets: (row) =>
        row.marketplaces
          .filter((each) => each.proven_by === 'secret')
          .map((each) => `${each.marketplace} ${each.secrets}`),
    };
    return one(await session.client().call('GET /admin/marketplace/summary', {}), fields);
  },
});

/** Every state and its number, such as `done 3, dead 0`. */
function counted(numbers: Readonly<Record<string, number>>): string[] {
  return Object.entries(numbers).map(([state, count]) => `${state} ${count}`);
}
