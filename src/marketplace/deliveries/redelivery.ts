import { AppError } from '../../base/errors.ts';
import type { Actor } from '../../changes/audit-entry.ts';
import { Rejection } from '../notifications/rejection.ts';
import type { Deliveries, DeliveryStore } from './deliveries.ts';
import type { DeliveryLogDetail, DeliveryLogStore } from './delivery-log.ts';

interface Parts {
  readonly deliveryLog: Pick<DeliveryLogStore, 'get' | 'revive'>;
  readonly deliveries: Pick<DeliveryStore, 'get'>;
  readonly finish: Deliveries['finish'];
  readonly report: (problem: string, error: unknown) => void;
}

export type Redeliver = ReturnType<typeof createRedelivery>;

/** Acts on one delivery again, immediately, and returns the outcome. A delivery that is done is not repeated. */
export function createRedelivery({ deliveryLog, deliveries, finish, report }: Parts) {
  return async function redeliver(id: bigint, actor: Actor): Promise<DeliveryLogDetail> {
    const known = await found(id);
    if (!(await deliveryLog.revive(id, actor))) throw rejection(known);
    const delivery = await deliveries.get(id);
    try {
      if (delivery) await finish(delivery);
    } catch (error) {
      // The delivery log has the outcome either way: a rejection is an answer, and the sweep retries after a fault.
      if (!(error instanceof Rejection)) report(`delivery ${id} is still unfinished`, error);
    }
    return await found(id);
  };

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
