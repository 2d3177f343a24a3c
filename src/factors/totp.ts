import { randomBytes } from 'node:crypto';
import { AppError, invalidField } from '../base/errors.ts';
import type { SignedTexts } from '../base/signed-text.ts';
import type { Actor } from '../changes/audit-entry.ts';
import type { Person } from '../identity/callers.ts';
import type { Sealed, Vault } from '../vault/vault.ts';
import type { Factors } from './factors.ts';
import { base32, otpauthUri, plainCode, stepOf, TOTP_SECRET_BYTES } from './totp-code.ts';

export interface StoredTotp {
  readonly id: bigint;
  readonly sealed: Sealed;
}

/** What is known about the codes of an authenticator app while no other request can change it. */
export interface TotpState {
  readonly lastStep: number;
  readonly failures: number;
  readonly blockedUntil: Date | null;
}

export interface TotpStore {
  find(accountId: bigint): Promise<StoredTotp | undefined>;
  /** Replaces the authenticator app, if there is one. */
  set(draft: TotpDraft, actor: Actor): Promise<{ readonly isFirst: boolean }>;
  /**
   * Tries a code. `decide` sees the state while no other request can change it, and returns the next one, or undefined if the
   * code is not even looked at. Returns the state that it saw; undefined if the app was replaced or removed.
   */
  attempt(
    accountId: bigint,
    id: bigint,
    decide: (state: TotpState) => TotpState | undefined,
    now: Date,
    actor: Actor,
  ): Promise<TotpState | undefined>;
}

export interface TotpDraft {
  readonly accountId: bigint;
  readonly sealed: Sealed;
  readonly lastStep: number;
  readonly recoveryHashes: readonly Buffer[];
  readonly keptSession: bigint | undefined;
}

/** A secret that a user puts into an authenticator app. It is stored when a code shows that this has worked. */
export interface Proposal {
  readonly secret: string;
  readonly uri: string;
  /** To be sent back with the first code. */
  readonly enrollment: string;
  readonly expiresAt: Date;
}

export type Totps = ReturnType<typeof createTotps>;

const PROPOSAL_MS = 15 * 60_000;
/** How the secret is bound to its place in the database. */
const IDENTITY = 'authenticator app';
/**
 * Of a million codes, three are right at any time. After each further ten that were wrong, no code is looked at for a
 * while, twice as long each time: a quarter of an hour, then half an hour, and so on up to a day. So an attacker who has
 * the password has one chance in a hundred after a year of guessing. Passkeys and recovery codes keep working.
 */
const FAILURES = 10;
const FIRST_BLOCK_MS = 15 * 60_000;
const LONGEST_BLOCK_MS = 24 * 3_600_000;

interface TotpOptions {
  readonly store: TotpStore;
  readonly vault: Pick<Vault, 'seal' | 'open'>;
  readonly factors: Pick<Factors, 'newCodes'>;
  readonly proposals: SignedTexts;
  /** Whose codes these are, as the app shows it. */
  readonly issuer: () => string;
}

/** Authenticator apps, which show a new code every 30 seconds. */
export function createTotps({ store, vault, factors, proposals, issuer }: TotpOptions) {
  return { propose, add, check };

  function propose({ id, login }: Person, now: Date): Proposal {
    const secret = randomBytes(TOTP_SECRET_BYTES);
    const expiresAt = new Date(now.getTime() + PROPOSAL_MS);
    const enrollment = proposals.make(JSON.stringify([String(id), secret.toString('base64')]), expiresAt);
    return { secret: base32(secret), uri: otpauthUri(secret, login, issuer()), enrollment, expiresAt };
  }

  /** Returns the recovery codes if this is the first factor of the user. */
  async function add(
    { id: accountId }: Person,
    { enrollment, code }: { readonly enrollment: string; readonly code: string },
    keptSession: bigint | undefined,
    actor: Actor,
    now: Date,
  ): Promise<readonly string[] | undefined> {
    const content = proposals.read(enrollment, now);
    const [owner, text] = content === undefined ? [] : (JSON.parse(content) as [string, string]);
    if (owner !== String(accountId) || text === undefined) {
      throw invalidField('enrollment', 'enrollment has expired, or is of another user: start again');
    }
    const secret = Buffer.from(text, 'base64');
    const step = stepOf(secret, plainCode(code), now, 0);
    if (step === undefined)
      throw invalidField('code', 'the code is wrong: is the clock of the app right?', 'wrong_code');
    const codes = factors.newCodes();
    const sealed = await vault.seal(accountId, IDENTITY, secret);
    const draft = { accountId, sealed, lastStep: step, recoveryHashes: codes.hashes, keptSession };
    const { isFirst } = await store.set(draft, actor);
    return isFirst ? codes.texts : undefined;
  }

  /** Throws if the code is wrong, was used before, or comes after too many wrong ones. */
  async function check({ id: accountId }: Pick<Person, 'id'>, code: string, actor: Actor, now: Date): Promise<void> {
    const stored = await store.find(accountId);
    if (!stored) throw wrongCode();
    const secret = await vault.open(accountId, IDENTITY, stored.sealed);
    let isRight = false;
    const decide = (state: TotpState): TotpState | undefined => {
      if (state.blockedUntil !== null && state.blockedUntil > now) return undefined;
      const step = stepOf(secret, plainCode(code), now, state.lastStep);
      isRight = step !== undefined;
      return step === undefined ? failed(state, now) : { lastStep: step, failures: 0, blockedUntil: null };
    };
    const seen = await store.attempt(accountId, stored.id, decide, now, actor);
    if (isRight) return;
    const wait = (seen?.blockedUntil?.getTime() ?? 0) - now.getTime();
    if (wait > 0) {
      const message = 'too many wrong codes: wait, or use a passkey or a recovery code';
      throw new AppError('limited', message, { retryAfter: Math.ceil(wait / 1000) });
    }
    throw wrongCode();
  }
}

function failed(state: TotpState, now: Date): TotpState {
  const failures = state.failures + 1;
  if (failures % FAILURES !== 0) return { ...state, failures, blockedUntil: null };
  const pause = Math.min(FIRST_BLOCK_MS * 2 ** (failures / FAILURES - 1), LONGEST_BLOCK_MS);
  return { ...state, failures, blockedUntil: new Date(now.getTime() + pause) };
}

export function wrongCode(): AppError {
  return new AppError('unauthenticated', 'the code is wrong, or was used before', { reason: 'wrong_code' });
}
