import { createHmac } from 'node:crypto';
import { AppError } from '../base/errors.ts';
import type { Actor } from '../changes/audit-entry.ts';
import type { Person } from '../identity/callers.ts';
import { ALGORITHMS } from './authenticator-data.ts';
import type { Bearer, Challenge, Challenges, UsedProof } from './challenges.ts';
import { type Factors, type PasskeyCard, readName } from './factors.ts';
import {
  type AssertionAnswer,
  challengeIn,
  checkAssertion,
  checkRegistration,
  type PasskeyKey,
  type RegistrationAnswer,
} from './passkey-check.ts';
import { type RelyingParty, relyingPartyOf } from './relying-party.ts';

export interface PasskeyDraft extends PasskeyKey {
  readonly accountId: bigint;
  readonly name: string;
  readonly transports: readonly string[];
}

export interface StoredPasskey extends PasskeyKey {
  readonly id: bigint;
  readonly accountId: bigint;
  /** The name of its user. */
  readonly login: string;
}

export interface PasskeyStore {
  /** Those that a browser should look for, or should not create again. */
  known(accountId: bigint): Promise<readonly KnownPasskey[]>;
  byCredential(credentialId: Buffer): Promise<StoredPasskey | undefined>;
  /** The proof works once; so does the ID of the passkey. */
  add(draft: PasskeyDraft, extras: Extras, actor: Actor): Promise<AddedPasskey | 'used' | 'taken'>;
  /** False if the proof was used before, or if the passkey has been used or removed since it was read. */
  use(before: StoredPasskey, after: PasskeyKey, proof: UsedProof, now: Date): Promise<boolean>;
}

export interface KnownPasskey {
  readonly credentialId: Buffer;
  readonly transports: readonly string[];
}

interface Extras {
  readonly proof: UsedProof;
  readonly recoveryHashes: readonly Buffer[];
  readonly keptSession: bigint | undefined;
  readonly now: Date;
}

export interface AddedPasskey {
  readonly card: PasskeyCard;
  /** Whether it is the first factor of the user, so that the recovery codes were stored. */
  readonly isFirst: boolean;
}

export interface NewPasskey extends RegistrationAnswer {
  readonly name: string;
  readonly transports: readonly string[];
}

export interface PasskeyAnswer extends AssertionAnswer {
  /** The ID of the passkey, in base64url. */
  readonly id: string;
  readonly userHandle: string | undefined;
}

/** Whom a challenge was given to, and what the browser shows with the answer. */
export interface Shown extends Bearer {
  readonly browser: string | undefined;
}

export type Passkeys = ReturnType<typeof createPasskeys>;

const TRANSPORTS = new Set(['usb', 'nfc', 'ble', 'smart-card', 'hybrid', 'internal']);
const TIMEOUT_MS = 5 * 60_000;

interface PasskeysOptions {
  readonly store: PasskeyStore;
  readonly factors: Pick<Factors, 'newCodes'>;
  readonly challenges: Challenges;
  /** Names users to authenticators, which must not learn anything about them. */
  readonly handleKey: Buffer;
  readonly baseUrl: () => string;
}

/** Passkeys: created by browsers, and shown to sign in. */
export function createPasskeys({ store, factors, challenges, handleKey, baseUrl }: PasskeysOptions) {
  return { creation, add, request, check, isAvailable: () => relyingPartyOf(baseUrl()) !== undefined };

  /** What a browser needs to create a passkey. */
  async function creation(person: Person, now: Date): Promise<{ options: object; challenge: Challenge }> {
    const party = requireParty();
    const challenge = challenges.make({ purpose: 'register', subject: String(person.id) }, now);
    const options = {
      rp: { id: party.id, name: 'Atrium' },
      user: { id: handleOf(person.id), name: person.login, displayName: person.fullName || person.login },
      challenge: challenge.text,
      pubKeyCredParams: ALGORITHMS.map((alg) => ({ type: 'public-key', alg })),
      timeout: TIMEOUT_MS,
      attestation: 'none',
      // Keys that can neither be found without a name nor ask for a PIN still are a second factor.
      authenticatorSelection: { residentKey: 'preferred', userVerification: 'preferred' },
      excludeCredentials: (await store.known(person.id)).map(presentKnown),
    };
    return { options, challenge };
  }

  async function add(
    person: Person,
    passkey: NewPasskey,
    shown: { readonly browser: string | undefined; readonly keptSession: bigint | undefined },
    actor: Actor,
    now: Date,
  ): Promise<{ readonly card: PasskeyCard; readonly recoveryCodes: readonly string[] | undefined }> {
    const party = requireParty();
    const name = readName(passkey.name);
    const bearer = { purpose: 'register', subject: String(person.id), browser: shown.browser } as const;
    const { proof, key } = checked(() => {
      const proof = proofOf(passkey.clientDataJSON, bearer, now);
      return { proof, key: checkRegistration(passkey, { challenge: proof.text, party, isVerified: false }) };
    });
    const codes = factors.newCodes();
    const draft = { ...key, accountId: person.id, name, transports: knownTransports(passkey.transports) };
    const extras = { proof, recoveryHashes: codes.hashes, keptSession: shown.keptSession, now };
    const added = await store.add(draft, extras, actor);
    if (added === 'used') throw wrongPasskey('the challenge was used before');
    if (added === 'taken') throw new AppError('conflict', 'this passkey was added before');
    return { card: added.card, recoveryCodes: added.isFirst ? codes.texts : undefined };
  }

  /** What a browser needs to show a passkey: one of this user, or any that it has for us. */
  async function request(
    bearer: Bearer,
    accountId: bigint | undefined,
    isVerified: boolean,
    now: Date,
  ): Promise<{ options: object; challenge: Challenge }> {
    const party = requireParty();
    const challenge = challenges.make(bearer, now);
    const known = accountId === undefined ? [] : await store.known(accountId);
    const options = {
      rpId: party.id,
      challenge: challenge.text,
      timeout: TIMEOUT_MS,
      userVerification: isVerified ? 'required' : 'preferred',
      allowCredentials: known.map(presentKnown),
    };
    return { options, challenge };
  }

  /** The user whose passkey was shown. With `accountId`, it must be that user. */
  async function check(
    answer: PasskeyAnswer,
    shown: Shown,
    { accountId, isVerified }: { readonly accountId?: bigint; readonly isVerified: boolean },
    now: Date,
  ): Promise<{ readonly accountId: bigint; readonly login: string }> {
    const party = requireParty();
    const known = await store.byCredential(Buffer.from(answer.id, 'base64url'));
    const { proof, after } = checked(() => {
      if (known === undefined || (accountId ?? known.accountId) !== known.accountId) throw new Error('it is not known');
      if (answer.userHandle !== undefined && answer.userHandle !== handleOf(known.accountId)) {
        throw new Error('it is of another user');
      }
      const proof = proofOf(answer.clientDataJSON, shown, now);
      return { proof, after: checkAssertion(answer, known, { challenge: proof.text, party, isVerified }) };
    });
    if (known === undefined || !(await store.use(known, after, proof, now))) {
      throw wrongPasskey('the challenge was used before');
    }
    return { accountId: known.accountId, login: known.login };
  }

  function proofOf(clientDataJSON: string, { browser, ...bearer }: Shown, now: Date): UsedProof & { text: string } {
    const text = challengeIn(clientDataJSON);
    const proof = challenges.check(text, bearer, browser, now);
    if (proof === undefined) throw new Error('the challenge is of another browser or purpose, or too old');
    return { ...proof, text };
  }

  function requireParty(): RelyingParty {
    const party = relyingPartyOf(baseUrl());
    if (party !== undefined) return party;
    throw new AppError('conflict', 'passkeys need a BASE_URL with https and a host name, or localhost', {
      reason: 'passkeys_unavailable',
    });
  }

  function handleOf(accountId: bigint): string {
    return createHmac('sha256', handleKey).update(String(accountId)).digest('base64url');
  }
}

/** Whatever is wrong with an answer, the caller learns why, because nothing in it is secret. */
function checked<T>(check: () => T): T {
  try {
    return check();
  } catch (cause) {
    throw wrongPasskey((cause as Error).message, cause);
  }
}

function wrongPasskey(why: string, cause?: unknown): AppError {
  return new AppError('unauthenticated', `the passkey was rejected: ${why}`, { reason: 'wrong_passkey', cause });
}

function presentKnown({ credentialId, transports }: KnownPasskey) {
  return { type: 'public-key', id: credentialId.toString('base64url'), transports };
}

/** A browser may know more than we do. What we do not know, it would not understand later either. */
function knownTransports(given: readonly string[]): string[] {
  return [...new Set(given)].filter((transport) => TRANSPORTS.has(transport));
}
