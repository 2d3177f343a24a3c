import Type, { type Static } from 'typebox';
import { AppError } from '../../base/errors.ts';
import { actorOf, siteAdmin } from '../../http/admission/access.ts';
import type { Scope } from '../../http/server.ts';
import {
  Int64,
  Int64Input,
  named,
  PathId,
  readId,
  readIdNumber,
  readMoment,
  Timestamp,
  timestamp,
} from '../../http/wire/schemas.ts';
import {
  MarketplaceText,
  marketplaceQuery,
  OrNull,
  PlaceQuery,
  pageOf,
  readMarketplace,
  readNumber,
  showPlaces,
  text,
} from '../marketplace.view.ts';
import { canonicalJson, type Json, parseExact, without } from '../notifications/canonical-json.ts';
import { shortEventTime } from '../notifications/event-time.ts';
import { SECRETIVE } from '../notifications/redaction.ts';
import { DELIVERY_STATES } from './deliveries.ts';
import type { DeliveryLinks, DeliveryLog, DeliveryLogDetail, DeliveryLogEntry } from './delivery-log.ts';
import { MAX_REDELIVERED, type Redelivered, type Redelivery } from './redelivery.ts';

const STATES: readonly string[] = DELIVERY_STATES;
const JSON_TYPE = 'application/json; charset=utf-8';

const time = (description: string) => Type.Optional(Type.String({ format: 'date-time', description }));
const Filter = {
  marketplace: marketplaceQuery('deliveries'),
  outcome: text(
    `A state (${STATES.join(', ')}) or a reason such as bound, superseded, already_bound or unknown_event_type.`,
  ),
  search: text('Part of the subject, such as an application ID or an installer ID.'),
  subject: text('The whole subject: all deliveries about one subscription or installer.'),
  since: time('Only deliveries that arrived from this time on (RFC 3339).'),
  until: time('Only deliveries that arrived before this time (RFC 3339).'),
};
const ListQuery = Type.Object({ ...Filter, ...PlaceQuery });
// A filter with a typing error would retry more than was meant.
const RedeliveryFilter = named(
  'RedeliveryFilter',
  Type.Object(
    {
      ...Filter,
      after: Type.Optional(Int64Input),
      most: Type.Optional(
        Type.Integer({
          minimum: 0,
          maximum: MAX_REDELIVERED,
          default: MAX_REDELIVERED,
          description: 'How many to retry at most. With 0, they are only counted.',
        }),
      ),
    },
    { additionalProperties: false },
  ),
);
const DeliveryPath = Type.Object({ id: PathId });

const Entry = named(
  'Delivery',
  Type.Object({
    id: Int64,
    marketplace: MarketplaceText,
    subject: Type.String({ description: 'What the delivery is about. Empty if it could not be understood.' }),
    event_type: Type.String(),
    event_time: OrNull<string>('string', {
      format: 'date-time',
      description: 'When it happened, as the marketplace says. Null if it does not say.',
    }),
    state: Type.String({
      enum: [...DELIVERY_STATES],
      description: 'Dead means that the server gave up after many attempts.',
    }),
    reason: Type.String(),
    status: OrNull<number>('integer'),
    message: OrNull<string>('string'),
    source: Type.String(),
    request_id: Type.String(),
    times: Type.Integer({ description: 'How many times the marketplace sent it.' }),
    attempts: Type.Integer({ description: 'How many attempts to process it failed.' }),
    received_at: Timestamp,
    last_at: Timestamp,
    done_at: OrNull<string>('string', { format: 'date-time' }),
    next_try_at: OrNull<string>('string', {
      format: 'date-time',
      description: 'When the server acts on it again. Null unless its state is received.',
    }),
    links: Type.Object(
      {
        installer: Type.Optional(Type.String({ description: 'The installer that a bind names.' })),
        organization_id: Type.Optional(Int64),
        contract_id: Type.Optional(Int64),
        subscription_id: Type.Optional(Int64),
      },
      { description: 'What the delivery is about, and what its installer is bound to now. Only what exists.' },
    ),
  }),
);
const Detail = named(
  'DeliveryDetail',
  Type.Object({
    ...Entry.properties,
    notification: Type.Unsafe<unknown>({
      description: 'Content of the notification, without secrets. Null if it was unreadable or too large to keep.',
    }),
  }),
);

const count = (description: string) => Type.Integer({ description });
const RedeliveryResult = named(
  'RedeliveryResult',
  Type.Object({
    tried: count('How many deliveries were retried.'),
    done: count('How many of them are done now.'),
    refused: count('How many of them were rejected again.'),
    failed: count('How many of them failed again. The server retries them by itself.'),
    left: count('How many more match. They were not retried, because they are too many for one request.'),
    deliveries: Type.Array(
      named(
        'RetriedDelivery',
        Type.Object({ id: Int64, state: Type.String({ enum: [...DELIVERY_STATES] }), reason: Type.String() }),
      ),
      { description: 'What became of each, oldest first.' },
    ),
  }),
);

const PLACES = { kind: 'delivery', write: ({ id }: DeliveryLogEntry) => String(id), read: readNumber };

/** The delivery log for site administrators: what arrived, what came of it, and redelivery. */
export function deliveryLogRoutes(
  scope: Scope,
  deliveryLog: Pick<DeliveryLog, 'list' | 'get'>,
  { redeliver, redeliverAll }: Redelivery,
): void {
  const tags = ['marketplace'];
  const extension = true;
  const config = { access: siteAdmin('admin') };

  scope.get(
    '/admin/marketplace/deliveries',
    {
      config,
      schema: {
        summary: 'List marketplace deliveries, newest first',
        tags,
        extension,
        querystring: ListQuery,
        errors: [422],
        response: { 200: pageOf('DeliveryPage', Entry) },
      },
    },
    async (request) => {
      const search = readSearch(request.query);
      return await showPlaces(
        request.query,
        PLACES,
        (before, limit) => deliveryLog.list({ ...search, before, limit }),
        present,
      );
    },
  );

  scope.get(
    '/admin/marketplace/deliveries/:id',
    {
      config,
      schema: {
        summary: 'Get a delivery with its notification',
        tags,
        extension,
        params: DeliveryPath,
        response: { 200: Detail },
      },
    },
    async (request, reply) => {
      const entry = await deliveryLog.get(readId(request.params.id, 'delivery ID'));
      if (!entry) throw new AppError('notFound', 'delivery does not exist', { reason: 'delivery_not_found' });
      return reply.type(JSON_TYPE).send(detail(entry) as never);
    },
  );

  scope.post(
    '/admin/marketplace/deliveries/:id/redeliver',
    {
      config,
      schema: {
        summary: 'Retry an unfinished delivery and return its outcome',
        tags,
        extension,
        params: DeliveryPath,
        response: { 200: Detail },
      },
    },
    async (request, reply) => {
      const entry = await redeliver(readId(request.params.id, 'delivery ID'), actorOf(request));
      return reply.type(JSON_TYPE).send(detail(entry) as never);
    },
  );

  scope.post(
    '/admin/marketplace/deliveries/redeliver',
    {
      config,
      schema: {
        summary: 'Retry the unfinished deliveries that match a filter, oldest first',
        tags,
        extension,
        body: RedeliveryFilter,
        errors: [400],
        response: { 200: RedeliveryResult },
      },
    },
    async (request) => {
      const { after, most = MAX_REDELIVERED } = request.body;
      const search = {
        ...readSearch(request.body),
        // Nothing has the ID 0, so after it comes everything.
        after: after === undefined || Number(after) === 0 ? undefined : readIdNumber(after, 'after'),
      };
      return presentRedelivered(await redeliverAll(search, most, actorOf(request)));
    },
  );
}

function presentRedelivered({ deliveries, left }: Redelivered) {
  const inState = (...states: readonly string[]) => deliveries.filter(({ state }) => states.includes(state)).length;
  return {
    tried: deliveries.length,
    done: inState('done'),
    refused: inState('refused'),
    failed: inState('received', 'dead'),
    left,
    deliveries: deliveries.map(({ id, state, reason }) => ({ id, state, reason })),
  };
}

function readSearch(query: Omit<Static<typeof ListQuery>, 'cursor' | 'limit'>) {
  const { outcome, search } = query;
  const isState = outcome !== undefined && STATES.includes(outcome);
  return {
    marketplace: readMarketplace(query.marketplace),
    ...(isState ? { state: outcome } : { reason: outcome }),
    text: search,
    subject: query.subject,
    since: query.since === undefined ? undefined : readMoment(query.since, 'since'),
    until: query.until === undefined ? undefined : readMoment(query.until, 'until'),
  };
}

function present(entry: DeliveryLogEntry) {
  return {
    id: entry.id,
    marketplace: entry.marketplace,
    subject: entry.subject,
    event_type: entry.eventType,
    event_time: entry.eventTime === '' ? null : shortEventTime(entry.eventTime),
    state: entry.state,
    reason: entry.reason,
    status: entry.status,
    message: entry.message,
    source: entry.source,
    request_id: entry.requestId,
    times: entry.times,
    attempts: entry.attempts,
    received_at: timestamp(entry.receivedAt),
    last_at: timestamp(entry.lastAt),
    done_at: entry.doneAt && timestamp(entry.doneAt),
    next_try_at: entry.nextTryAt && timestamp(entry.nextTryAt),
    links: presentLinks(entry.links),
  };
}

function presentLinks({ installer, organizationId, contractId, subscriptionId }: DeliveryLinks) {
  return {
    ...(installer !== null && { installer }),
    ...(organizationId !== null && { organization_id: organizationId }),
    ...(contractId !== null && { contract_id: contractId }),
    ...(subscriptionId !== null && { subscription_id: subscriptionId }),
  };
}

/** Nothing secret is stored, but fields whose names look secret are left out anyway. Numbers stay as they were sent. */
function detail(entry: DeliveryLogDetail): string {
  const said = entry.notification === null ? null : without(parseExact(entry.notification) as Json, SECRETIVE);
  return canonicalJson({ ...present(entry), notification: said });
}
