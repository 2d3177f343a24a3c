import Type from 'typebox';
import { AppError } from '../base/errors.ts';
import { actorOf, type Caller, callerOf, signedIn, siteAdmin } from '../http/admission/access.ts';
import type { Scope } from '../http/server.ts';
import { named, shownAs, Timestamp, timestamp } from '../http/wire/schemas.ts';
import type { Bus } from './bus.ts';
import { type History, MAX_ITEMS } from './history.ts';
import type { Issued, Proof } from './issuer.ts';

const endpoints = Type.Array(Type.String(), { description: 'Addresses of the bus: TCP first, then WebSocket.' });
const file = Type.String({ contentEncoding: 'base64', description: 'NATS .creds file, encoded as base64.' });
const Credentials = named('BusCredentials', Type.Object({ busEndpoints: endpoints, credentials: file }));
const NatsCredentials = named(
  'NatsCredentials',
  Type.Object({ natsEndpoints: endpoints, busEndpoints: endpoints, credentials: file }),
);
const WholeCredentials = named(
  'AdminBusCredentials',
  Type.Object({
    busEndpoints: endpoints,
    account: Type.String({ description: 'Public key of the account.' }),
    user: Type.String({ description: 'Public key of the user.' }),
    jwt: Type.String(),
    seed: Type.String({ description: 'Secret seed of the user.' }),
    credentials: file,
  }),
);
const HistoryQuery = Type.Object({
  cluster: Type.String({
    minLength: 1,
    description: 'UID of the cluster, or the word that stands for it in its subjects.',
  }),
  group: Type.Optional(Type.String({ maxLength: 253, description: 'API group. Empty means the core group.' })),
  resource: Type.Optional(Type.String({ maxLength: 253, description: 'Kind of resource.' })),
  rid: Type.Optional(Type.String({ maxLength: 253, description: 'ID of the resource.' })),
  since: Type.Optional(
    shownAs(Type.String({ description: 'Only reports from this time on (RFC 3339).' }), {
      type: 'string',
      format: 'date-time',
    }),
  ),
  limit: Type.Optional(
    shownAs(Type.String({ description: `Items per page. The default and maximum is ${MAX_ITEMS}.` }), {
      type: 'integer',
      minimum: 1,
    }),
  ),
  cursor: Type.Optional(Type.String({ maxLength: 2000, description: 'The cursor of the previous page.' })),
});
const HistoryPage = named(
  'ResourceHistory',
  Type.Object({
    items: Type.Array(
      Type.Object({
        key: Type.String(),
        values: Type.Array(
          Type.Object({
            resource: Type.String(),
            resourceID: Type.String(),
            licenseID: Type.String(),
            version: Type.String(),
            timestamp: Timestamp,
          }),
        ),
        lastSeen: Timestamp,
      }),
    ),
    cursor: Type.Optional(Type.String({ description: 'Send it to get the next page. Absent on the last page.' })),
  }),
);

const DATE_TIME = /^\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d(:\d\d(\.\d{1,9})?)?([Zz]|[+-]\d\d:\d\d)$/;

export interface BusParts {
  readonly bus: Bus;
  readonly history: History;
  /** Addresses where clients reach the bus. */
  readonly busEndpoints: readonly string[];
}

export function busRoutes(scope: Scope, { bus, history, busEndpoints }: BusParts): void {
  scope.get(
    '/user/bus/credentials',
    {
      config: { access: signedIn('user', 'never', { scope: 'all' }) },
      schema: { summary: 'Get message bus credentials for the caller', tags: ['bus'], response: { 200: Credentials } },
    },
    async (request) => await ownCredentials(callerOf(request)),
  );

  // Older clients of this API family know the bus by the name of its software.
  scope.get(
    '/user/nats/credentials',
    {
      config: { access: signedIn('user', 'never', { scope: 'all' }) },
      schema: {
        summary: 'Get message bus credentials for the caller, under the name that older clients use',
        tags: ['bus'],
        extension: true,
        response: { 200: NatsCredentials },
      },
    },
    async (request) => {
      const own = await ownCredentials(callerOf(request));
      return { natsEndpoints: own.busEndpoints, ...own };
    },
  );

  scope.get(
    '/user/bus/admin_credentials',
    {
      config: { access: siteAdmin('admin', { scope: 'all', proven: true }) },
      schema: {
        summary: 'Get message bus credentials for the administrative account',
        tags: ['bus'],
        response: { 200: WholeCredentials },
      },
    },
    async (request) => {
      const caller = callerOf(request);
      return presentWhole(await bus.ofAdministrator(caller.person, proofOf(caller), actorOf(request), new Date()));
    },
  );

  scope.get(
    '/user/bus/user_credentials',
    {
      config: { access: siteAdmin('admin', { scope: 'all', proven: true }) },
      schema: {
        summary: 'Get message bus credentials for a user',
        tags: ['bus'],
        querystring: Type.Object({
          user: Type.Optional(Type.String({ description: 'Login name. By default, the caller.' })),
        }),
        response: { 200: WholeCredentials },
      },
    },
    async (request) => {
      const caller = callerOf(request);
      const name = request.query.user || caller.person.login;
      return presentWhole(await bus.ofUser(name, proofOf(caller), actorOf(request), new Date()));
    },
  );

  scope.get(
    '/user/bus/cluster-resource-history',
    {
      config: { access: siteAdmin('admin') },
      schema: {
        summary: 'List what a cluster reported about its resources',
        tags: ['bus'],
        querystring: HistoryQuery,
        response: { 200: HistoryPage },
      },
    },
    async (request) => {
      const { since, limit, ...question } = request.query;
      const { items, cursor } = await history.list({
        ...question,
        since: since ? readMoment(since) : undefined,
        limit: limit !== undefined && /^\d{1,9}$/.test(limit) ? Number(limit) : undefined,
      });
      return {
        items: items.map(({ key, values, lastSeen }) => ({
          key,
          values: values.map((value) => ({ ...value, timestamp: timestamp(value.timestamp) })),
          lastSeen: timestamp(lastSeen),
        })),
        ...(cursor !== undefined && { cursor }),
      };
    },
  );

  async function ownCredentials(caller: Caller) {
    const { file } = await bus.own(caller.person, proofOf(caller), new Date());
    return { busEndpoints: [...busEndpoints], credentials: Buffer.from(file).toString('base64') };
  }

  function presentWhole({ account, user, jwt, seed, file }: Issued) {
    const credentials = Buffer.from(file).toString('base64');
    return { busEndpoints: [...busEndpoints], account, user, jwt, seed, credentials };
  }
}

function proofOf({ tokenId, until }: Caller): Proof {
  return { tokenId, until };
}

function readMoment(text: string): Date {
  // A plus sign in a query means a space, and many clients forget to encode it.
  const moment = new Date(text.replace(/ (\d\d:\d\d)$/, '+$1'));
  if (!DATE_TIME.test(text.replace(/ (\d\d:\d\d)$/, '+$1')) || Number.isNaN(moment.getTime())) {
    throw new AppError('invalid', 'since must be an RFC 3339 time such as 2026-01-31T12:00:00Z');
  }
  return moment;
}
