import { randomUUID } from 'node:crypto';
import type { Features } from '../../features.ts';
import { readNotification } from '../../marketplace/notifications/notification.ts';
import { newSecret } from '../../marketplace/notifications/secret-text.ts';

export interface DemoMarketplace {
  readonly secrets: { readonly cloudB: string; readonly cloudC: string };
  readonly installers: Readonly<Record<'cloudA' | 'cloudB' | 'cloudC' | 'cloudCBound' | 'cloudCTest', string>>;
  readonly claims: Readonly<Record<'claimable' | 'notClaimable' | 'claimed' | 'waiting' | 'flagged', string>>;
}

const YEAR_S = 365 * 86_400;

/** Demo data for a marketplace deployment. Needs an instance that listens, because links contain its address. */
export async function buildMarketplace({ marketplace }: Pick<Features, 'marketplace'>): Promise<DemoMarketplace> {
  const secrets = { cloudB: newSecret(), cloudC: newSecret() };
  await marketplace.secrets.add('CloudB', secrets.cloudB);
  await marketplace.secrets.add('CloudC', secrets.cloudC);
  const now = new Date();
  const create = async (name: 'CloudA' | 'CloudB' | 'CloudC', isTest = false) =>
    (await marketplace.installers.create({ marketplace: name, isTest }, now)).id;
  const installers = {
    cloudA: await create('CloudA'),
    cloudB: await create('CloudB'),
    cloudC: await create('CloudC'),
    cloudCBound: await create('CloudC'),
    cloudCTest: await create('CloudC', true),
  };
  await marketplace.secrets.refresh();
  const bindingInfo = { installerId: installers.cloudCBound, clusterId: randomUUID() };
  const origin = { source: 'demo', requestId: 'demo' };
  await marketplace.deliveries.receive(readNotification('CloudC', { eventType: 'BIND', bindingInfo }), origin);
  return { secrets, installers, claims: await buildClaims({ marketplace }, now) };
}

async function buildClaims(
  { marketplace }: Pick<Features, 'marketplace'>,
  now: Date,
): Promise<DemoMarketplace['claims']> {
  const { central, claimStore } = marketplace;
  const make = async (claimable: boolean, claimed: boolean) => {
    const id = randomUUID();
    await central.put(id, claimable, claimed);
    return id;
  };
  const claims = {
    claimable: await make(true, false),
    notClaimable: await make(false, false),
    claimed: await make(false, true),
    waiting: await make(false, false),
    flagged: await make(true, false),
  };
  // These stay in their backoff for as long as anyone uses this demo.
  const nextAt = new Date(now.getTime() + YEAR_S * 1000);
  for (const [id, claimable] of [[claims.waiting, false] as const, [claims.flagged, true] as const]) {
    const flags = { claimable, claimed: false };
    await claimStore.save(id, { ...flags, flags, backoffSeconds: YEAR_S, nextAt });
  }
  return claims;
}
