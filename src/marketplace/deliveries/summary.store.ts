import { only, type Query, sql } from '../../db/db.ts';
import { EVENT_CONDITIONS } from '../../outbox/outbox.store.ts';
import { EVENT_STATES } from '../../outbox/outbox.ts';
import { INSTALLER_CONDITIONS } from '../installers/installers.store.ts';
import { INSTALLER_STATES } from '../installers/installers.ts';
import { SUBSCRIPTION_STATES } from '../subscriptions/lifecycle.ts';
import { DELIVERY_STATES } from './deliveries.ts';
import { readLastDeliveries } from './last-deliveries.store.ts';
import type { Counted, SummaryStore } from './summary.ts';

const byState = (table: string) =>
  `(select coalesce(json_object_agg(s.state, s.total), '{}'::json)
      from (select state, count(*) as total from ${table} group by state) s)`;
const byCondition = (from: string, conditions: readonly (readonly [state: string, condition: string])[]) =>
  `(select json_build_object(${conditions
    .map(([state, condition]) => `'${state}', count(*) filter (where ${condition})`)
    .join(', ')}) from ${from})`;
const COUNT = sql(
  'summary.count',
  `select ${byState('delivery')} as deliveries, ${byState('subscription')} as subscriptions,
     ${byCondition(
       'installer i',
       INSTALLER_STATES.map((state) => [state, INSTALLER_CONDITIONS[state](() => '$1')]),
     )} as installers,
     ${byCondition(
       'marketplace_event',
       EVENT_STATES.map((state) => [state, EVENT_CONDITIONS[state]]),
     )} as events,
     (select min(received_at) from delivery where state = 'received') as oldest_delivery,
     (select min(created_at) from marketplace_event where ${EVENT_CONDITIONS.waiting}) as oldest_event`,
);

interface Row {
  deliveries: Record<string, number>;
  subscriptions: Record<string, number>;
  installers: Record<string, number>;
  events: Record<string, number>;
  oldest_delivery: Date | null;
  oldest_event: Date | null;
}

export function createSummaryStore(query: Query): SummaryStore {
  return {
    async count(now): Promise<Counted> {
      const row = only(await query<Row>(COUNT, [now]));
      return {
        deliveries: countsOf(DELIVERY_STATES, row.deliveries),
        subscriptions: countsOf(SUBSCRIPTION_STATES, row.subscriptions),
        installers: countsOf(INSTALLER_STATES, row.installers),
        events: countsOf(EVENT_STATES, row.events),
        oldestDelivery: row.oldest_delivery,
        oldestEvent: row.oldest_event,
        last: await readLastDeliveries(query),
      };
    },
  };
}

/** Every state, also those that nothing is in. */
function countsOf<State extends string>(
  states: readonly State[],
  found: Record<string, number>,
): Record<State, number> {
  return Object.fromEntries(states.map((state) => [state, found[state] ?? 0])) as Record<State, number>;
}
