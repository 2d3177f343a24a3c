import { createHmac, createSecretKey, timingSafeEqual } from 'node:crypto';
import type { Config } from '../../base/config/config.ts';
import { AppError, invalidField } from '../../base/errors.ts';
import type { Actor } from '../../changes/audit-entry.ts';
import type { Once } from '../../changes/write.ts';
import { OPERATOR } from '../installers/operator-actor.ts';
import { MARKETPLACE_NAMES, type MarketplaceName, profileOf, type SecretSetting, titleOf } from '../marketplaces.ts';

/** A live secret as administrators see it: never its text. */
export interface LiveSecret {
  readonly marketplace: MarketplaceName;
  readonly fingerprint: string;
  /** Null if the secret is from the settings. */
  readonly addedAt: Date | null;
}

export interface SecretStore {
  /** What is in the database: secrets that were added while the server was running, and test installers. */
  live(): Promise<{
    readonly secrets: readonly { readonly marketplace: string; readonly hash: Buffer }[];
    readonly testInstallers: readonly string[];
  }>;
  /** The same secrets, with the time when each was added, oldest first. */
  list(): Promise<{ readonly marketplace: MarketplaceName; readonly hash: Buffer; readonly addedAt: Date }[]>;
  /** Returns when the secret was added: it may be there already. */
  add<Made>(
    marketplace: MarketplaceName,
    hash: Buffer,
    actor: Actor,
    once?: Once<Made>,
    made?: (addedAt: Date) => Made,
  ): Promise<Date>;
  retire(marketplace: MarketplaceName, hash: Buffer, actor: Actor): Promise<boolean>;
}

/** The settings that the table of marketplaces names, and the test installer. */
export type SecretSettings = Pick<Config, SecretSetting | 'CLOUD_C_TEST_INSTALLER'>;

export const FINGERPRINT_LENGTH = 16;

export type Secrets = ReturnType<typeof createSecrets>;

/** The live secrets of the marketplaces. There can be several, so that one can be replaced without a gap. */
export function createSecrets(store: SecretStore, settings: SecretSettings, key: Buffer) {
  // Node checks and copies a plain buffer for every hash, which takes four times as long as the hash.
  const hashKey = createSecretKey(key);
  const configured = new Map(
    MARKETPLACE_NAMES.map((name) => {
      const setting = profileOf(name).secrets;
      return [name, setting === undefined ? [] : settings[setting].map(hash)] as const;
    }),
  );
  let stored: Awaited<ReturnType<SecretStore['live']>> = { secrets: [], testInstallers: [] };
  let last: Promise<void> = Promise.resolve();
  return { refresh, proves, isTestInstaller, list, add, retire, retireByFingerprint };

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

  /** Everything that `proves` compares with, those from the settings first. */
  async function list(): Promise<LiveSecret[]> {
    const settled = MARKETPLACE_NAMES.flatMap((marketplace) =>
      (configured.get(marketplace) ?? []).map((one) => ({
        marketplace,
        fingerprint: fingerprintOf(one),
        addedAt: null,
      })),
    );
    const added = await store.list();
    return [...settled, ...added.map(({ hash: one, ...rest }) => ({ ...rest, fingerprint: fingerprintOf(one) }))];
  }

  async function add(
    marketplace: MarketplaceName,
    secret: string,
    actor: Actor = OPERATOR,
    once?: Once<LiveSecret>,
  ): Promise<LiveSecret> {
    if (profileOf(marketplace).provenBy !== 'secret') {
      throw invalidField('marketplace', `${titleOf(marketplace)} has no secret`);
    }
    if (secret === '') throw invalidField('secret', 'the secret is empty');
    const hashed = hash(secret);
    const made = (addedAt: Date) => ({ marketplace, fingerprint: fingerprintOf(hashed), addedAt });
    const addedAt = await store.add(marketplace, hashed, actor, once, made);
    await refresh();
    return made(addedAt);
  }

  async function retire(marketplace: MarketplaceName, secret: string, actor: Actor = OPERATOR): Promise<boolean> {
    const retired = await store.retire(marketplace, hash(secret), actor);
    await refresh();
    return retired;
  }

  /** For operators who do not have the secret any more. */
  async function retireByFingerprint(fingerprint: string, actor: Actor): Promise<void> {
    const added = (await store.list()).find((one) => fingerprintOf(one.hash) === fingerprint);
    const isRetired = added !== undefined && (await store.retire(added.marketplace, added.hash, actor));
    await refresh();
    if (isRetired) return;
    if ([...configured.values()].flat().some((one) => fingerprintOf(one) === fingerprint)) {
      throw new AppError('conflict', 'the secret is from the settings of the server and is retired there');
    }
    throw new AppError('notFound', 'there is no such secret', { reason: 'secret_not_found' });
  }

  function hash(secret: string): Buffer {
    return createHmac('sha256', hashKey).update(secret).digest();
  }
}

/** The hash is keyed, so a part of it says nothing about the secret. */
function fingerprintOf(hash: Buffer): string {
  return hash.toString('hex').slice(0, FINGERPRINT_LENGTH);
}
