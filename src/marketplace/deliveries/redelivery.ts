import { AppError } from '../../base/errors.ts';
import { yieldToEventLoop } from '../../base/scheduling/slices.ts';
import type { Actor } from '../../changes/audit-entry.ts';
import { Rejection } from '../notifications/rejection.ts';
import type { Deliveries, Delivery, DeliveryStore } from './deliveries.ts';
import type { DeliveryLogDetail, DeliveryLogStore, UnfinishedSearch } from './delivery-log.ts';

interface RedeliveryOptions {
  readonly deliveryLog: Pick<DeliveryLogStore, 'get' | 'revive' | 'unfinished' | 'countUnfinished'>;
  readonly deliveries: Pick<DeliveryStore, 'get'>;
  readonly finish: Deliveries['finish'];
  readonly report: (problem: string, error: unknown) => void;
  /** A clock in milliseconds that cannot be set. */
  readonly clock?: () => number;
}

/** What became of the deliveries that one request retried. */
export interface Redelivered {
  readonly deliveries: readonly Retried[];
  /** How many match and were not tried, because they are too many for one request. */
  readonly left: number;
}

export interface Retried {
  readonly id: bigint;
  readonly state: Delivery['state'];
  readonly reason: string;
}

export type Redelivery = ReturnType<typeof createRedelivery>;

export const MAX_REDELIVERED = 200;
/** No further delivery is started after this time. Clients wait for an answer for 30 seconds. */
const MAX_MS = 10_000;

/**
 * Acts on deliveries again, immediately, and returns the outcome. A delivery that is done is not repeated. Attempts on
 * one delivery never overlap: `finish` gives each subject its turn, and the second attempt sees what the first did.
 */
export function createRedelivery({
  deliveryLog,
  deliveries,
  finish,
  report,
  clock = () => performance.now(),
}: RedeliveryOptions) {
  const underWay = new Set<bigint>();
  return { redeliver, redeliverAll };

  async function redeliver(id: bigint, actor: Actor): Promise<DeliveryLogDetail> {
    const known = await found(id);
    if (!(await retry(id, actor))) throw rejection(known);
    return await found(id);
  }

  /** Oldest first, one after the other. What another request is retrying right now is left to that request. */
  async function redeliverAll(search: UnfinishedSearch, max: number, actor: Actor): Promise<Redelivered> {
    const began = clock();
    const tried: Retried[] = [];
    let after = search.after;
    for (const id of max === 0 ? [] : await deliveryLog.unfinished(search, max)) {
      if (tried.length > 0 && clock() - began >= MAX_MS) break;
      after = id;
      if (underWay.has(id) || !(await retry(id, actor))) continue;
      const entry = await deliveryLog.get(id);
      if (entry) tried.push({ id, state: entry.state, reason: entry.reason });
      await yieldToEventLoop();
    }
    return { deliveries: tried, left: await deliveryLog.countUnfinished({ ...search, after }) };
  }

  /** Returns false if there is nothing to retry. */
  async function retry(id: bigint, actor: Actor): Promise<boolean> {
    underWay.add(id);
    try {
      if (!(await deliveryLog.revive(id, actor))) return false;
      await attempt(id);
      return true;
    } finally {
      underWay.delete(id);
    }
  }

  async function attempt(id: bigint): Promise<void> {
    const delivery = await deliveries.get(id);
    try {
      if (delivery) await finish(delivery);
    } catch (error) {
      // The delivery log has the outcome either way: a rejection is an answer, and the sweep retries after a fault.
      if (!(error instanceof Rejection)) report(`delivery ${id} is still unfinished`, error);
    }
  }

  async function found(id: bigint): Promise<DeliveryLogDetail> {
    const entry = await deliveryLog.get(id);
    if (!entry) throw new AppError('notFound', 'delivery does not exist', { reason: 'delivery_not_found' });
    return entry;
  }
}

function rejection({ state }: DeliveryLogDetail): AppError {
  if (state === 'done') return new AppError('conflict', 'the delivery is already done and cannot be retried');
  return new AppError('conflict', 'the delivery is not a valid notification and cannot be retried');
}
