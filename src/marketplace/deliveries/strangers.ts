import type { MarketplaceName } from '../marketplaces.ts';
import type { DeliveryLog, RejectionCount } from './delivery-log.ts';

/** What one source sent on one day that was only counted. */
export interface Stranger extends RejectionCount {
  /** Of UTC, as `2026-03-02`. */
  readonly day: string;
}

export type StrangerPlace = Pick<Stranger, 'day' | 'marketplace' | 'reason' | 'source'>;

export interface StrangerSearch {
  readonly marketplace?: MarketplaceName | undefined;
  readonly after?: StrangerPlace | undefined;
  readonly limit: number;
}

export interface StrangerStore {
  /** The latest day first. A row keeps its place, however often it is counted. */
  list(search: StrangerSearch): Promise<Stranger[]>;
}

export type Strangers = ReturnType<typeof createStrangers>;

/** Callers that proved nothing, and rejected deliveries that were too many to keep. */
export function createStrangers(store: StrangerStore, deliveryLog: Pick<DeliveryLog, 'flush'>) {
  return {
    /** Includes what this process has counted and not written yet. */
    async list(search: StrangerSearch): Promise<Stranger[]> {
      await deliveryLog.flush();
      return await store.list(search);
    },
  };
}
