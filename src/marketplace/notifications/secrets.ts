import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Config } from '../../base/config.ts';
import { MARKETPLACE_NAMES, type MarketplaceName, profileOf, type SecretSetting } from '../marketplaces.ts';

export interface SecretStore {
  /** What is in the database: secrets that were added while the server was running, and test installers. */
  live(): Promise<{
    readonly secrets: readonly { readonly marketplace: string; readonly hash: Buffer }[];
    readonly testInstallers: readonly string[];
  }>;
  add(marketplace: MarketplaceName, hash: Buffer): Promise<void>;
  retire(marketplace: MarketplaceName, hash: Buffer): Promise<boolean>;
}

/** The settings that the table of marketplaces names, and the test installer. */
export type SecretSettings = Pick<Config, SecretSetting | 'CLOUD_C_TEST_INSTALLER'>;

export type Secrets = ReturnType<typeof createSecrets>;

/** The live secrets of the marketplaces. There can be several, so that one can be replaced without a gap. */
export function createSecrets(store: SecretStore, settings: SecretSettings, key: Buffer) {
  const configured = new Map(
    MARKETPLACE_NAMES.map((name) => {
      const setting = profileOf(name).secrets;
      return [name, setting === undefined ? [] : settings[setting].map(hash)] as const;
    }),
  );
  let stored: Awaited<ReturnType<SecretStore['live']>> = { secrets: [], testInstallers: [] };
  let last: Promise<void> = Promise.resolve();
  return { refresh, proves, isTestInstaller, add, retire };

  /** Refreshes run one at a time: a read that began before a secret was retired must not finish after it was. */
  function refresh(): Promise<void> {
    const reading = last.then(async () => {
      stored = await store.live();
    });
    last = reading.catch(() => undefined);
    return reading;
  }

  /**
   * Compares with every live secret, in the same time whichever one matches. A parameter given twice proves nothing.
   */
  function proves(marketplace: MarketplaceName, given: unknown): boolean {
    const offered = hash(typeof given === 'string' ? given : '');
    let matches = 0;
    for (const live of liveOf(marketplace)) matches |= Number(timingSafeEqual(live, offered));
    return matches === 1 && typeof given === 'string' && given !== '';
  }

  function liveOf(marketplace: MarketplaceName): readonly Buffer[] {
    if (profileOf(marketplace).provenBy !== 'secret') return [];
    const kept = stored.secrets.filter((one) => one.marketplace === marketplace).map((one) => one.hash);
    return [...(configured.get(marketplace) ?? []), ...kept];
  }

  /** Only the exact ID that was set up for tests; nothing in a body can turn an installer into a test installer. */
  function isTestInstaller(id: string): boolean {
    return id === settings.CLOUD_C_TEST_INSTALLER || stored.testInstallers.includes(id);
  }

  async function add(marketplace: MarketplaceName, secret: string): Promise<void> {
    await store.add(marketplace, hash(secret));
    await refresh();
  }

  async function retire(marketplace: MarketplaceName, secret: string): Promise<boolean> {
    const retired = await store.retire(marketplace, hash(secret));
    await refresh();
    return retired;
  }

  function hash(secret: string): Buffer {
    return createHmac('sha256', key).update(secret).digest();
  }
}
