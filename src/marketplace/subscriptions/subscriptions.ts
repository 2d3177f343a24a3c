import { AppError } from '../../base/errors.ts';
import type { Installers } from '../installers/installers.ts';
import type { MarketplaceName } from '../marketplaces.ts';
import type { Installer } from './delivery-transaction.ts';
import type { SubscriptionState } from './lifecycle.ts';

/** A subscription as administrators see it. */
export interface SubscriptionEntry {
  readonly id: bigint;
  readonly marketplace: MarketplaceName;
  readonly applicationId: string;
  /** The subject of its deliveries. */
  readonly subject: string;
  readonly managedResourceGroupId: string;
  readonly state: SubscriptionState;
  readonly eventTime: string;
  readonly resourceUsageId: string | null;
  /** JSON, as the marketplace sent it. */
  readonly plan: string | null;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

export interface SubscriptionDetail extends SubscriptionEntry {
  readonly installers: readonly Installer[];
}

export interface SubscriptionSearch {
  readonly marketplace?: MarketplaceName | undefined;
  readonly state?: SubscriptionState | undefined;
  /** Part of the ID of the application. */
  readonly text?: string | undefined;
  /** Only subscriptions with a lower ID. */
  readonly before?: bigint | undefined;
  readonly limit: number;
}

export interface SubscriptionStore {
  /** Newest first. */
  list(search: SubscriptionSearch): Promise<SubscriptionEntry[]>;
  get(id: bigint): Promise<SubscriptionEntry | undefined>;
}

export type Subscriptions = ReturnType<typeof createSubscriptions>;

/** A customer can bind several installers to one subscription. That many are shown. */
const MAX_INSTALLERS = 100;

/** What the marketplaces reported about subscriptions. Only deliveries change them. */
export function createSubscriptions(store: SubscriptionStore, installers: Pick<Installers, 'list'>) {
  return { list: store.list, get };

  async function get(id: bigint, now: Date): Promise<SubscriptionDetail> {
    const found = await store.get(id);
    if (!found) throw new AppError('notFound', 'there is no such subscription', { reason: 'subscription_not_found' });
    return { ...found, installers: await installers.list({ subscriptionId: id, limit: MAX_INSTALLERS }, now) };
  }
}
