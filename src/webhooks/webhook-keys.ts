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

export interface WebhookKeyStore {
  /** The newest first. */
  load(): Promise<StoredWebhookKey[]>;
  /** Unless another process has added one. */
  addFirst(key: Pick<StoredWebhookKey, 'kid' | 'publicKey' | 'sealed'>): Promise<void>;
}

export type WebhookKeys = ReturnType<typeof createWebhookKeys>;

/** An Ed25519 public key in DER is 12 bytes of names, and then the key. */
const DER_NAMES = 12;
const LIVES_MS = 60_000;

/** The keys of the deployment that every message is signed with, so that receivers need not share a secret with us. */
export function createWebhookKeys(store: WebhookKeyStore, vault: Pick<Vault, 'seal' | 'open'>) {
  const opened = new Map<string, KeyObject>();
  let known: readonly StoredWebhookKey[] = [];
  let loadedAt = Number.NEGATIVE_INFINITY;
  return { current, published };

  async function published(): Promise<readonly StoredWebhookKey[]> {
    const now = performance.now();
    if (known.length === 0 || now - loadedAt > LIVES_MS) {
      known = await store.load();
      loadedAt = now;
    }
    if (known.length > 0) return known;
    await store.addFirst(await create());
    known = await store.load();
    return known;
  }

  async function current(): Promise<KeyObject> {
    const [newest] = await published();
    if (!newest) throw new AppError('internal', 'the key that signs webhooks could not be stored');
    const { kid, sealed } = newest;
    const key = opened.get(kid) ?? (await open(kid, sealed));
    opened.set(kid, key);
    return key;
  }

  async function open(kid: string, sealed: Buffer): Promise<KeyObject> {
    const secret = await vault.open(PLATFORM, webhookKeyIdentity(kid), sealed);
    return createPrivateKey({ key: secret, format: 'der', type: 'pkcs8' });
  }

  async function create() {
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
