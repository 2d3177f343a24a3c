import { AppError } from '../../base/errors.ts';
import type { Actor } from '../../changes/audit-entry.ts';
import { Rejection } from '../notifications/rejection.ts';
import type { Deliveries, DeliveryStore } from './deliveries.ts';
import type { DeliveryLogStore, JournalDetail } from './delivery-log.ts';

interface Parts {
  readonly journal: Pick<DeliveryLogStore, 'get' | 'revive'>;
  readonly deliveries: Pick<DeliveryStore, 'get'>;
  readonly finish: Deliveries['finish'];
  readonly report: (problem: string, error: unknown) => void;
}

export type Redeliver = ReturnType<typeof createRedelivery>;

/** Acts on one delivery again, at once, and tells what became of it. What is done stays done. */
export function createRedelivery({ journal, deliveries, finish, report }: Parts) {
  return async function redeliver(id: bigint, actor: Actor): Promise<JournalDetail> {
    const known = await found(id);
    if (!(await journal.revive(id, actor))) throw rejection(known);
    const delivery = await deliveries.get(id);
    try {
      if (delivery) await finish(delivery);
    } catch (error) {
      // Either way the journal knows: a refusal is an answer, and a fault is tried again by the sweep.
      if (!(error instanceof Rejection)) report(`delivery ${id} is still undone`, error);
    }
    return await found(id);
  };

  async function found(id: bigint): Promise<JournalDetail> {
    const entry = await journal.get(id);
    if (!entry) throw new AppError('notFound', 'delivery does not exist');
    return entry;
  }
}

function rejection({ state }: JournalDetail): AppError {
  if (state === 'done') return new AppError('conflict', 'the delivery is done: nothing is done twice');
  return new AppError('conflict', 'the delivery could not be understood: nothing can be done about it');
}
