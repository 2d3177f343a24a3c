import Type from 'typebox';
import { siteAdmin } from '../../http/admission/access.ts';
import type { Scope } from '../../http/server.ts';
import { choice } from '../../http/wire/paging.ts';
import { Int64, named, PathId, readId, Timestamp, timestamp } from '../../http/wire/schemas.ts';
import { InstallerEntry, presentInstaller } from '../installers/installer.view.ts';
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
import { SECRETIVE } from '../notifications/redaction.ts';
import { SUBSCRIPTION_STATES } from './lifecycle.ts';
import type { SubscriptionEntry, Subscriptions } from './subscriptions.ts';

const JSON_TYPE = 'application/json; charset=utf-8';
const ListQuery = Type.Object({
  marketplace: marketplaceQuery('subscriptions'),
  state: choice(SUBSCRIPTION_STATES, 'Only subscriptions in this state.'),
  q: text('Part of the ID of the application.'),
  ...PlaceQuery,
});
const Entry = named(
  'Subscription',
  Type.Object({
    id: Int64,
    marketplace: MarketplaceText,
    application_id: Type.String(),
    subject: Type.String({ description: 'The subject of all deliveries about it.' }),
    managed_resource_group_id: Type.String(),
    state: Type.String({ enum: [...SUBSCRIPTION_STATES] }),
    event_time: Type.String({
      description: 'The time of the event that led to the state, by the clock of the marketplace.',
    }),
    resource_usage_id: OrNull<string>('string'),
    created_at: Timestamp,
    updated_at: Timestamp,
  }),
);
const Detail = named(
  'SubscriptionDetail',
  Type.Object({
    ...Entry.properties,
    plan: Type.Unsafe<unknown>({
      description: 'What was bought, as the marketplace sent it, without secrets. Or null.',
    }),
    installers: Type.Array(InstallerEntry, { description: 'The installers that are bound to it, newest first.' }),
  }),
);
const PLACES = { kind: 'subscription', write: ({ id }: SubscriptionEntry) => String(id), read: readNumber };

/** Subscriptions, for site administrators. */
export function subscriptionRoutes(scope: Scope, subscriptions: Subscriptions): void {
  const common = { tags: ['marketplace'], extension: true };
  const config = { access: siteAdmin('admin') };

  scope.get(
    '/admin/marketplace/subscriptions',
    {
      config,
      schema: {
        ...common,
        summary: 'List marketplace subscriptions, newest first',
        querystring: ListQuery,
        response: { 200: pageOf('SubscriptionPage', Entry) },
      },
    },
    async (request) => {
      const { state, q } = request.query;
      const search = { marketplace: readMarketplace(request.query.marketplace), state, text: q || undefined };
      return await showPlaces(
        request.query,
        PLACES,
        (before, limit) => subscriptions.list({ ...search, before, limit }),
        present,
      );
    },
  );

  scope.get(
    '/admin/marketplace/subscriptions/:id',
    {
      config,
      schema: {
        ...common,
        summary: 'Get a subscription with the installers that are bound to it',
        params: Type.Object({ id: PathId }),
        response: { 200: Detail },
      },
    },
    async (request, reply) => {
      const now = new Date();
      const found = await subscriptions.get(readId(request.params.id, 'subscription ID'), now);
      const plan = found.plan === null ? null : without(parseExact(found.plan) as Json, SECRETIVE);
      const installers = found.installers.map((installer) => presentInstaller(installer, now));
      return reply.type(JSON_TYPE).send(canonicalJson({ ...present(found), plan, installers }) as never);
    },
  );
}

function present(entry: SubscriptionEntry) {
  return {
    id: entry.id,
    marketplace: entry.marketplace,
    application_id: entry.applicationId,
    subject: entry.subject,
    managed_resource_group_id: entry.managedResourceGroupId,
    state: entry.state,
    event_time: entry.eventTime,
    resource_usage_id: entry.resourceUsageId,
    created_at: timestamp(entry.createdAt),
    updated_at: timestamp(entry.updatedAt),
  };
}
