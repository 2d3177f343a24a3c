import { createPrivateKey, generateKeyPair, hash, type KeyObject } from 'node:crypto';
import { promisify } from 'node:util';
import { AppError } from '../base/errors.ts';
import { PLATFORM } from '../changes/write.ts';
import type { Vault } from '../vault/vault.ts';

export interface StoredWebhookKey {
  readonly kid: string;
  /** As Standard Webhooks writes it: `whpk_` and base64. */
  readonly publicKey: string;
  readonly sealed: Buffer;
  readonly createdAt: Date;
  readonly retiresAt: Date | null;
}

export type NewWebhookKey = Pick<StoredWebhookKey, 'kid' | 'publicKey' | 'sealed'>;

/** Of another kind, published next to ours. */
export interface PublicKey {
  readonly id: string;
  readonly publicKey: string;
}

export interface WebhookKeyStore {
  /** The newest first. */
  load(): Promise<StoredWebhookKey[]>;
  /** Unless another process has added one. */
  addFirst(key: NewWebhookKey): Promise<void>;
  /** The keys that sign now do so until then. */
  replace(key: NewWebhookKey, until: Date): Promise<void>;
}

export type WebhookKeys = ReturnType<typeof createWebhookKeys>;

/** An Ed25519 public key in DER is 12 bytes of names, and then the key. */
const DER_NAMES = 12;
const LIVES_MS = 60_000;
/** So long both keys sign after a rotation, for receivers that look at the published keys now and then. */
const BOTH_SIGN_MS = 7 * 86_400_000;

/** The keys of the deployment that every message is signed with, so that receivers need not share a secret with us. */
export function createWebhookKeys(store: WebhookKeyStore, vault: Pick<Vault, 'seal' | 'open'>) {
  const opened = new Map<string, KeyObject>();
  let known: readonly StoredWebhookKey[] = [];
  let loadedAt = Number.NEGATIVE_INFINITY;
  return { signing, published, rotate };

  async function published(): Promise<readonly StoredWebhookKey[]> {
    if (performance.now() - loadedAt > LIVES_MS) await load();
    if (present().length > 0) return present();
    await store.addFirst(await create());
    await load();
    return present();
  }

  /** A new key signs from now on, and for a week the former one, too. Other processes notice it within a minute. */
  async function rotate(): Promise<{ readonly kid: string; readonly formerUntil: Date }> {
    const formerUntil = new Date(Date.now() + BOTH_SIGN_MS);
    const key = await create();
    await store.replace(key, formerUntil);
    await load();
    return { kid: key.kid, formerUntil };
  }

  function present(): readonly StoredWebhookKey[] {
    return known.filter(({ retiresAt }) => retiresAt === null || retiresAt.getTime() > Date.now());
  }

  async function load(): Promise<void> {
    known = await store.load();
    loadedAt = performance.now();
  }

  async function signing(): Promise<KeyObject[]> {
    const keys = await published();
    if (keys.length === 0) throw new AppError('internal', 'the key that signs webhooks could not be stored');
    return await Promise.all(
      keys.map(async ({ kid, sealed }) => {
        const key = opened.get(kid) ?? (await open(kid, sealed));
        opened.set(kid, key);
        return key;
      }),
    );
  }

  async function open(kid: string, sealed: Buffer): Promise<KeyObject> {
    const secret = await vault.open(PLATFORM, webhookKeyIdentity(kid), sealed);
    return createPrivateKey({ key: secret, format: 'der', type: 'pkcs8' });
  }

  async function create(): Promise<NewWebhookKey> {
    const { privateKey, publicKey } = await promisify(generateKeyPair)('ed25519');
    const der = publicKey.export({ format: 'der', type: 'spki' });
    const kid = hash('sha256', der, 'base64url').slice(0, 16);
    const secret = privateKey.export({ format: 'der', type: 'pkcs8' });
    const sealed = await vault.seal(PLATFORM, webhookKeyIdentity(kid), secret);
    return { kid, publicKey: `whpk_${der.subarray(DER_NAMES).toString('base64')}`, sealed };
  }
}

function webhookKeyIdentity(kid: string): string {
  return `webhook key ${kid}`;
}
