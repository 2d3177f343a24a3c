import type { Config } from '../base/config/config.ts';

/** The settings with a list of secrets. */
export type SecretSetting = Extract<keyof Config, `CLOUD_${string}_SECRETS`>;

/**
 * What distinguishes one marketplace from another. Routes, rules, commands and metrics read this table and never
 * compare names.
 */
export interface MarketplaceProfile {
  /** How a caller proves that it is the marketplace: by its source address, or by a secret in the query. */
  readonly provenBy: 'address' | 'secret';
  /** The setting with its live secrets, if it has any. */
  readonly secrets?: SecretSetting;
  readonly mustNameMarketplace: boolean;
  readonly mustNameCluster: boolean;
  /** What a second bind of the same installer gets. */
  readonly repeatedBind: 'same link' | 'rejected';
  /** It reports changes to a subscription as well as binds. */
  readonly hasLifecycle: boolean;
  /** It has a test installer, which can be bound without the secret. */
  readonly hasTestInstaller: boolean;
}

export const MARKETPLACES = {
  CloudA: {
    provenBy: 'address',
    mustNameMarketplace: true,
    mustNameCluster: true,
    repeatedBind: 'same link',
    hasLifecycle: false,
    hasTestInstaller: false,
  },
  CloudB: {
    provenBy: 'secret',
    secrets: 'CLOUD_B_SECRETS',
    mustNameMarketplace: false,
    mustNameCluster: false,
    repeatedBind: 'same link',
    hasLifecycle: true,
    hasTestInstaller: false,
  },
  CloudC: {
    provenBy: 'secret',
    secrets: 'CLOUD_C_SECRETS',
    mustNameMarketplace: false,
    mustNameCluster: true,
    repeatedBind: 'rejected',
    hasLifecycle: false,
    hasTestInstaller: true,
  },
} as const satisfies Readonly<Record<string, MarketplaceProfile>>;

export type MarketplaceName = keyof typeof MARKETPLACES;

export const MARKETPLACE_NAMES = Object.keys(MARKETPLACES) as MarketplaceName[];

export function profileOf(name: MarketplaceName): MarketplaceProfile {
  return MARKETPLACES[name];
}

/** `cloudA`: in URLs and on the command line. */
export function shortNameOf(name: MarketplaceName): string {
  return `${name.charAt(0).toLowerCase()}${name.slice(1)}`;
}

/** `marketplace A`: in sentences. */
export function titleOf(name: MarketplaceName): string {
  return `marketplace ${name.replace('Cloud', '')}`;
}
