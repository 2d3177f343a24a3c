import { type Query, sql } from '../../db/db.ts';
import { createFilters } from '../../db/filters.ts';
import { likeText } from '../../db/like-text.ts';
import type { MarketplaceName } from '../marketplaces.ts';
import type { SubscriptionState } from './lifecycle.ts';
import type { SubscriptionEntry, SubscriptionStore } from './subscriptions.ts';

// The plan is selected as text: read as JSON, a 64-bit number would lose digits.
const SELECT = `select id, marketplace, application_id, marketplace || ':' || key as subject, managed_resource_group_id,
  state, event_time, resource_usage_id, plan::text as plan, created_at, updated_at from subscription`;
const GET = sql('subscriptions.get', `${SELECT} where id = $1`);

interface Row {
  id: bigint;
  marketplace: MarketplaceName;
  application_id: string;
  subject: string;
  managed_resource_group_id: string;
  state: SubscriptionState;
  event_time: string;
  resource_usage_id: string | null;
  plan: string | null;
  created_at: Date;
  updated_at: Date;
}

export function createSubscriptionStore(query: Query): SubscriptionStore {
  return {
    async list({ marketplace, state, text, before, limit }) {
      const filters = createFilters(limit);
      filters.add('marketplace', marketplace, (one) => `marketplace = ${one}`);
      filters.add('state', state, (one) => `state = ${one}`);
      filters.add('text', text && likeText(text), (one) => `lower(application_id) like ${one}`);
      filters.add('before', before, (one) => `id < ${one}`);
      const statement = filters.statement(
        'subscriptions.list',
        (where) => `${SELECT} ${where} order by id desc limit $1`,
      );
      return (await query<Row>(statement, filters.values)).map(toEntry);
    },
    get: async (id) => (await query<Row>(GET, [id])).map(toEntry)[0],
  };
}

function toEntry(row: Row): SubscriptionEntry {
  return {
    id: row.id,
    marketplace: row.marketplace,
    applicationId: row.application_id,
    subject: row.subject,
    managedResourceGroupId: row.managed_resource_group_id,
    state: row.state,
    eventTime: row.event_time,
    resourceUsageId: row.resource_usage_id,
    plan: row.plan,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}
