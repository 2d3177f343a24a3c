/**
 * Idempotency keys: a request that creates something, and that its client can send again if it got no answer.
 *
 * 1. The response is stored in the transaction that creates the thing. If one is committed, so is the other, even if no
 *    process gets to hear of the COMMIT.
 * 2. Nothing is stored before that. A request that fails, and a process that dies, leave the key as it was.
 * 3. A repeated request runs as the first one did, up to its transaction: its caller is authorized again.
 * 4. Of two requests with one key, the later is rejected while the first one runs. In this process that is known; the
 *    transaction of another process holds a lock.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { AppError, invalidField } from '../base/errors.ts';
import type { Once, Query } from '../changes/write.ts';
import type { Sealed, Vault } from '../vault/vault.ts';

/** A response as it is sent, and sent again. */
export interface StoredResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** A request with a key. */
export interface KeyedRequest {
  readonly accountId: bigint;
  /** The caller, the route and the key: one response is kept for each. */
  readonly name: readonly string[];
  /** Everything that a repeated request must have in common with the first. */
  readonly content: readonly string[];
  readonly now: Date;
}

export interface KeptResponse {
  readonly fingerprint: Buffer;
  readonly sealed: Sealed;
}

/** A request, as the store knows it. */
export interface Entry {
  readonly accountId: bigint;
  /** Of the name of the request. */
  readonly hash: Buffer;
  /** Of its content. */
  readonly fingerprint: Buffer;
  readonly now: Date;
  /** What was stored by then counts no more. */
  readonly expired: Date;
}

export interface IdempotencyStore {
  /** Locks the key for the transaction, unless another one has. Counts the responses of the account up to `max`. */
  begin(
    query: Query,
    entry: Entry,
    max: number,
  ): Promise<{ readonly isFree: boolean; readonly found: KeptResponse | undefined; readonly kept: number }>;
  /** False if there is a response already. */
  insert(query: Query, entry: Entry, sealed: Sealed): Promise<boolean>;
  find(entry: Entry): Promise<KeptResponse | undefined>;
  sweep(expired: Date): Promise<void>;
}

export type Idempotency = ReturnType<typeof createIdempotency>;

const KEPT_MS = 24 * 3_600_000;
export const MAX_KEPT = 10_000;
const RETRY_AFTER_S = 1;
/** Rejections that an earlier request with the same key can be the cause of, because what it created is there. */
const CAUSED: ReadonlySet<string> = new Set(['invalid', 'malformed', 'conflict']);

/** Ends the transaction of a request that was answered before. */
class Answered extends Error {
  readonly response: KeptResponse;
  constructor(response: KeptResponse) {
    super('the request was answered before');
    this.response = response;
  }
}

export function createIdempotency(store: IdempotencyStore, vault: Pick<Vault, 'sealer' | 'open'>, secret: Buffer) {
  const running = new Set<string>();
  return { run, sweep: (now: Date) => store.sweep(expiredBy(now)) };

  /** Lets `create` create something, unless it did so before: then the response is that of the first time. */
  async function run<Made>(
    request: KeyedRequest,
    create: (once: Once<Made>) => Promise<Made>,
    respond: (made: Made) => StoredResponse,
  ): Promise<{ readonly response: StoredResponse; readonly isReplay: boolean }> {
    const { accountId, now } = request;
    const hash = digest(secret, request.name);
    const entry = { accountId, hash, fingerprint: digest(secret, request.content), now, expired: expiredBy(now) };
    const name = hash.toString('hex');
    if (running.has(name)) throw inProgress();
    running.add(name);
    try {
      return { response: await attempt(entry, create, respond), isReplay: false };
    } catch (error) {
      const earlier = await earlierResponse(entry, error);
      if (!earlier) throw error;
      return { response: await open(entry, earlier), isReplay: true };
    } finally {
      running.delete(name);
    }
  }

  async function attempt<Made>(
    entry: Entry,
    create: (once: Once<Made>) => Promise<Made>,
    respond: (made: Made) => StoredResponse,
  ): Promise<StoredResponse> {
    // Read now, because nothing but the transaction can query the database once it has begun.
    const seal = await vault.sealer(entry.accountId);
    let response: StoredResponse | undefined;
    const made = await create({
      async begin(query) {
        const { found, isFree, kept } = await store.begin(query, entry, MAX_KEPT);
        if (found) throw new Answered(found);
        if (!isFree) throw inProgress();
        if (kept >= MAX_KEPT) throw tooMany();
      },
      async keep(query, value) {
        response = respond(value);
        const sealed = seal(identityOf(entry), JSON.stringify(response));
        if (!(await store.insert(query, entry, sealed))) throw inProgress();
      },
    });
    return response ?? respond(made);
  }

  /** The response to an earlier request with the same key, if that is why this one failed. */
  async function earlierResponse(entry: Entry, error: unknown): Promise<KeptResponse | undefined> {
    if (error instanceof Answered) return error.response;
    return error instanceof AppError && CAUSED.has(error.kind) ? await store.find(entry) : undefined;
  }

  async function open(entry: Entry, { fingerprint, sealed }: KeptResponse): Promise<StoredResponse> {
    if (!timingSafeEqual(fingerprint, entry.fingerprint)) throw reused();
    const text = await vault.open(entry.accountId, identityOf(entry), sealed);
    return JSON.parse(text.toString()) as StoredResponse;
  }
}

function expiredBy(now: Date): Date {
  return new Date(now.getTime() - KEPT_MS);
}

/** Keyed, because a body can contain a password that is easy to guess. */
function digest(secret: Buffer, parts: readonly string[]): Buffer {
  return createHmac('sha256', secret).update(JSON.stringify(parts)).digest();
}

function identityOf({ hash }: Entry): string {
  return `response ${hash.toString('hex')}`;
}

function inProgress(): AppError {
  const message = 'a request with this Idempotency-Key is still running: send it again later';
  return new AppError('conflict', message, { reason: 'request_in_progress', retryAfter: RETRY_AFTER_S });
}

function reused(): AppError {
  const message = 'this Idempotency-Key was used for a different request: use a new key for each request';
  return invalidField('Idempotency-Key', message, 'idempotency_key_reused');
}

function tooMany(): AppError {
  const message = `at most ${MAX_KEPT} of your idempotency keys are kept at a time: send the request without a key`;
  return invalidField('Idempotency-Key', message, 'limit_reached');
}
