import { createPrivateKey, createPublicKey, generateKeyPair, hash, type JsonWebKey, type KeyObject } from 'node:crypto';
import { promisify } from 'node:util';
import { AppError } from '../base/errors.ts';
import { PLATFORM } from '../changes/write.ts';

/** Seals secrets at rest, bound to their owner (0 is the deployment itself) and to what they are. */
export interface SigningSafe {
  seal(ownerId: bigint, identity: string, plaintext: Buffer): Promise<Buffer>;
  open(ownerId: bigint, identity: string, sealed: Buffer): Promise<Buffer>;
}

export interface StoredSigningKey {
  readonly kid: string;
  readonly jwk: JsonWebKey;
  readonly sealed: Buffer;
  readonly createdAt: Date;
}

export interface SigningKeyStore {
  /** The newest first. */
  load(): Promise<StoredSigningKey[]>;
  /** Unless there is one that was created after this moment, by another process. */
  add(key: Pick<StoredSigningKey, 'kid' | 'jwk' | 'sealed'>, unlessSince: Date): Promise<void>;
  removeBefore(moment: Date): Promise<void>;
}

export interface PublishedKey {
  readonly kid: string;
  readonly jwk: JsonWebKey;
  readonly publicKey: KeyObject;
  readonly createdAt: Date;
}

export interface SigningKey extends PublishedKey {
  readonly privateKey: KeyObject;
}

export type SigningKeys = ReturnType<typeof createSigningKeys>;

const DAY_MS = 86_400_000;
/** How long a key signs. Its public part is published for a day more, and its tokens last for ten minutes. */
const SIGNING_MS = 30 * DAY_MS;
const PUBLISHED_MS = 31 * DAY_MS;
/** Another process may have made a key since. Strangers send unknown key IDs, too, so it is not asked more often. */
const RELOAD_MS = 2_000;
const REFRESH_MS = 60_000;

/** The keys of tokens for clusters. They rotate by themselves; each process remembers them for a minute. */
export function createSigningKeys(store: SigningKeyStore, safe: SigningSafe) {
  let known: readonly SigningKey[] = [];
  let loadedAt = Number.NEGATIVE_INFINITY;
  return { current, find, published };

  async function current(now: Date): Promise<SigningKey> {
    await refresh(REFRESH_MS);
    const newest = signing(now);
    if (newest) return newest;
    const since = new Date(now.getTime() - SIGNING_MS);
    await store.removeBefore(new Date(now.getTime() - PUBLISHED_MS));
    await store.add(await create(), since);
    await refresh(0);
    const made = signing(now);
    if (!made) throw new AppError('internal', 'the key for tokens of clusters could not be stored');
    return made;
  }

  async function find(kid: string, now: Date): Promise<PublishedKey | undefined> {
    const isIt = (key: SigningKey) => key.kid === kid && isPublished(key, now);
    await refresh(REFRESH_MS);
    if (!known.some(isIt)) await refresh(RELOAD_MS);
    return known.find(isIt);
  }

  async function published(now: Date): Promise<readonly PublishedKey[]> {
    await current(now);
    return known.filter((key) => isPublished(key, now));
  }

  function signing(now: Date): SigningKey | undefined {
    return known.find(({ createdAt }) => now.getTime() - createdAt.getTime() < SIGNING_MS);
  }

  async function refresh(afterMs: number): Promise<void> {
    const now = performance.now();
    if (now - loadedAt < afterMs) return;
    const stored = await store.load();
    known = await Promise.all(
      stored.map(async (one) => known.find(({ kid }) => kid === one.kid) ?? (await restore(one))),
    );
    loadedAt = now;
  }

  async function create(): Promise<Pick<StoredSigningKey, 'kid' | 'jwk' | 'sealed'>> {
    const { privateKey, publicKey } = await promisify(generateKeyPair)('ec', { namedCurve: 'P-256' });
    const kid = hash('sha256', publicKey.export({ format: 'der', type: 'spki' }), 'base64url').slice(0, 16);
    const secret = privateKey.export({ format: 'der', type: 'pkcs8' });
    const sealed = await safe.seal(PLATFORM, identityOf(kid), secret);
    return { kid, jwk: publicKey.export({ format: 'jwk' }), sealed };
  }

  async function restore({ kid, jwk, sealed, createdAt }: StoredSigningKey): Promise<SigningKey> {
    const secret = await safe.open(PLATFORM, identityOf(kid), sealed);
    const privateKey = createPrivateKey({ key: secret, format: 'der', type: 'pkcs8' });
    return { kid, jwk, createdAt, privateKey, publicKey: createPublicKey(privateKey) };
  }
}

function isPublished({ createdAt }: PublishedKey, now: Date): boolean {
  return now.getTime() - createdAt.getTime() < PUBLISHED_MS;
}

function identityOf(kid: string): string {
  return `cluster token key ${kid}`;
}
