import Type from 'typebox';
import { siteAdmin } from '../../http/admission/access.ts';
import type { Scope } from '../../http/server.ts';
import { choice } from '../../http/wire/paging.ts';
import { Int64, named, Timestamp, timestamp } from '../../http/wire/schemas.ts';
import { EVENT_STATES, type Outbox, type OutboxEntry, stateOfEvent } from '../../outbox/outbox.ts';
import { OrNull, PlaceQuery, pageOf, readNumber, showPlaces, text } from '../marketplace.view.ts';
import { canonicalJson, parseExact } from '../notifications/canonical-json.ts';

const JSON_TYPE = 'application/json; charset=utf-8';
const ListQuery = Type.Object({
  state: choice(EVENT_STATES, 'Only events in this state.'),
  type: text('Only events of this type, such as installer.bound.'),
  ...PlaceQuery,
});
const Entry = named(
  'MarketplaceEvent',
  Type.Object({
    id: Int64,
    uid: Type.String({ description: 'The ID that the receiver gets, the same with every attempt.' }),
    type: Type.String(),
    state: Type.String({
      enum: [...EVENT_STATES],
      description: 'Dead means that the server gave up after many attempts. Without a receiver, events are not sent.',
    }),
    data: Type.Unsafe<unknown>({ description: 'What the receiver gets.' }),
    attempts: Type.Integer({ description: 'How many attempts to send it failed.' }),
    created_at: Timestamp,
    next_try_at: OrNull<string>('string', { format: 'date-time', description: 'Null unless the event is waiting.' }),
    sent_at: OrNull<string>('string', { format: 'date-time' }),
    dead_at: OrNull<string>('string', { format: 'date-time' }),
  }),
);
const PLACES = { kind: 'event', write: ({ id }: OutboxEntry) => String(id), read: readNumber };

/** The outbox of the marketplace, for site administrators: events that were sent, that wait, and that were given up. */
export function marketplaceEventRoutes(scope: Scope, outbox: Pick<Outbox, 'list'>): void {
  scope.get(
    '/admin/marketplace/events',
    {
      config: { access: siteAdmin('admin') },
      schema: {
        summary: 'List the events of the marketplace outbox, newest first',
        tags: ['marketplace'],
        extension: true,
        querystring: ListQuery,
        response: { 200: pageOf('MarketplaceEventPage', Entry) },
      },
    },
    async (request, reply) => {
      const { state, type } = request.query;
      const page = await showPlaces(
        request.query,
        PLACES,
        (before, limit) => outbox.list({ state, type: type || undefined, before, limit }),
        present,
      );
      return reply.type(JSON_TYPE).send(canonicalJson(page) as never);
    },
  );
}

function present(entry: OutboxEntry) {
  const state = stateOfEvent(entry);
  return {
    id: entry.id,
    uid: entry.uid,
    type: entry.type,
    state,
    data: parseExact(entry.payload),
    attempts: entry.attempts,
    created_at: timestamp(entry.createdAt),
    next_try_at: state === 'waiting' ? timestamp(entry.nextTryAt) : null,
    sent_at: entry.sentAt && timestamp(entry.sentAt),
    dead_at: entry.deadAt && timestamp(entry.deadAt),
  };
}
