import type { MarketplaceName } from '../marketplaces.ts';
import type { ApplicationId } from '../notifications/application-id.ts';
import type { JsonObject } from '../notifications/canonical-json.ts';
import type { Standing } from './lifecycle.ts';

export interface Subscription extends Standing {
  readonly id: bigint;
}

export interface SubscriptionDraft extends Standing {
  readonly marketplace: MarketplaceName;
  readonly application: ApplicationId;
  readonly plan: JsonObject | null;
  readonly resourceUsageId: string | null;
}

export interface Binding {
  readonly boundAt: Date;
  readonly subscriptionId: bigint | null;
  readonly organizationId: bigint;
  readonly organizationName: string;
  readonly contractId: bigint;
  readonly contractUid: string;
  readonly contractRevoked: boolean;
  /** It was revoked because the subscription was deleted, not by a user. */
  readonly contractLapsed: boolean;
  readonly clusterId: string | null;
  readonly cloudAccount: string | null;
  readonly adminLogin: string;
  readonly domains: readonly string[];
  readonly baseUrl: string;
  readonly version: string;
  readonly claimId: string;
}

export interface Installer {
  readonly id: string;
  readonly marketplace: MarketplaceName;
  readonly isTest: boolean;
  readonly createdAt: Date;
  readonly expiresAt: Date;
  readonly linkGeneration: number;
  readonly binding: Binding | undefined;
  /** It was bound, but the organization or the contract has been deleted since: it can never be bound again. */
  readonly isSpent: boolean;
}

export interface BindingDraft {
  readonly subscriptionId: bigint | null;
  readonly organizationName: string;
  readonly adminLogin: string;
  readonly adminPasswordHash: string | null;
  readonly contractUid: string;
  readonly contractName: string;
  readonly product: string;
  readonly clusterId: string | null;
  readonly cloudAccount: string | null;
  readonly domains: readonly string[];
  readonly baseUrl: string;
  readonly version: string;
  readonly claimId: string;
}

/** An event that other systems may want to receive. */
export interface Announcement {
  readonly type: 'installer.bound' | 'subscription.changed' | 'subscription.revoked';
  readonly data: JsonObject;
}

/**
 * What acting on a delivery may use. Everything done here is in one transaction with the record that it was done, under
 * a lock on the delivery's subject. Every change of state leaves an audit row.
 */
export interface DeliveryTransaction {
  readonly now: Date;
  subscription(marketplace: MarketplaceName, key: string): Promise<Subscription | undefined>;
  addSubscription(draft: SubscriptionDraft): Promise<Subscription>;
  moveSubscription(current: Subscription, next: SubscriptionDraft): Promise<void>;
  /** Locks the installer until the transaction ends, so that nothing else can bind it. */
  installer(id: string): Promise<Installer | undefined>;
  isNameTaken(name: string): Promise<boolean>;
  /** Binds with the options that arrived in the delivery. */
  bind(installer: Installer, draft: BindingDraft): Promise<Installer>;
  /**
   * Revokes the contracts of a subscription and every link to its archives; returns how many contracts were still
   * valid.
   */
  revokeContracts(subscriptionId: bigint): Promise<number>;
  reinstateContract(installer: Installer): Promise<void>;
  announce(announcement: Announcement): void;
}
