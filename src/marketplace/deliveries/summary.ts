import type { EventState } from '../../outbox/outbox.ts';
import type { InstallerState } from '../installers/installers.ts';
import { MARKETPLACE_NAMES, type MarketplaceName, profileOf } from '../marketplaces.ts';
import type { Secrets } from '../notifications/secrets.ts';
import type { SubscriptionState } from '../subscriptions/lifecycle.ts';
import type { Delivery } from './deliveries.ts';

type Counts<State extends string> = Readonly<Record<State, number>>;

/** The listener in numbers. */
export interface Counted {
  readonly deliveries: Counts<Delivery['state']>;
  readonly installers: Counts<InstallerState>;
  readonly subscriptions: Counts<SubscriptionState>;
  readonly events: Counts<EventState>;
  /** When the oldest delivery arrived that is not finished, and the oldest event was made that is not sent. */
  readonly oldestDelivery: Date | null;
  readonly oldestEvent: Date | null;
  /** Each marketplace that ever sent something, with the time of its last delivery. */
  readonly last: ReadonlyMap<MarketplaceName, Date>;
}

export interface MarketplaceSummary {
  readonly marketplace: MarketplaceName;
  readonly provenBy: 'address' | 'secret';
  /** How many secrets are live. */
  readonly secrets: number;
  readonly lastDelivery: Date | null;
}

export interface Summary extends Counted {
  readonly marketplaces: readonly MarketplaceSummary[];
  /** Seconds since the list of address ranges was confirmed. */
  readonly rangesAge: number | undefined;
}

export interface SummaryStore {
  count(now: Date): Promise<Counted>;
}

interface SummaryParts {
  readonly secrets: Pick<Secrets, 'list'>;
  readonly ranges: { age(now: Date): number | undefined };
}

export type GetSummary = ReturnType<typeof createSummary>;

export function createSummary(store: SummaryStore, { secrets, ranges }: SummaryParts) {
  return async (now: Date): Promise<Summary> => {
    const counted = await store.count(now);
    const live = await secrets.list();
    const marketplaces = MARKETPLACE_NAMES.map((marketplace) => ({
      marketplace,
      provenBy: profileOf(marketplace).provenBy,
      secrets: live.filter((one) => one.marketplace === marketplace).length,
      lastDelivery: counted.last.get(marketplace) ?? null,
    }));
    return { ...counted, marketplaces, rangesAge: ranges.age(now) };
  };
}
