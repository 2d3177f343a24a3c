import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';

/** What a challenge is for. One that was given for one purpose works for no other. */
export type Purpose = 'register' | 'sign in' | 'second step' | 'reauthenticate';

/** That something was used, until it would not be accepted any more anyway. */
export interface UsedProof {
  readonly hash: Buffer;
  readonly expiresAt: Date;
}

export interface Challenge {
  readonly text: string;
  /** What the browser must show with the answer: a cookie that no script sees. */
  readonly browser: string;
  readonly expiresAt: Date;
}

/** Whom a challenge was given to. */
export interface Bearer {
  readonly purpose: Purpose;
  /** The account or the sign-in that it is about; empty if the user is not known yet. */
  readonly subject: string;
}

export type Challenges = ReturnType<typeof createChallenges>;

const LIFE_MS = 5 * 60_000;
const RANDOM = 24;
const HEAD = RANDOM + 8;

/**
 * Challenges for passkeys. Nothing is stored when one is given out, so asking for them costs the database nothing, and
 * every replica accepts those of other replicas. A challenge says by itself until when it is valid, and it is signed together
 * with its purpose, its subject and the cookie of its browser. It works once, because its use is stored with what it
 * was used for.
 */
export function createChallenges(key: Buffer) {
  return { make, check };

  function make(bearer: Bearer, now: Date): Challenge {
    const expiresAt = new Date(now.getTime() + LIFE_MS);
    const browser = randomBytes(RANDOM).toString('base64url');
    const head = Buffer.alloc(HEAD);
    randomBytes(RANDOM).copy(head);
    head.writeBigUInt64BE(BigInt(expiresAt.getTime()), RANDOM);
    const text = Buffer.concat([head, sign(head, bearer, browser)]).toString('base64url');
    return { text, browser, expiresAt };
  }

  /** Undefined if the challenge is not ours, for another user or purpose, of another browser, or too old. */
  function check(text: string, bearer: Bearer, browser: string | undefined, now: Date): UsedProof | undefined {
    const bytes = Buffer.from(text, 'base64url');
    const head = bytes.subarray(0, HEAD);
    if (head.length < HEAD || browser === undefined) return undefined;
    const expected = sign(head, bearer, browser);
    const given = bytes.subarray(HEAD);
    if (given.length !== expected.length || !timingSafeEqual(given, expected)) return undefined;
    const expiresAt = new Date(Number(head.readBigUInt64BE(RANDOM)));
    return now < expiresAt ? { hash: createHash('sha256').update(head).digest(), expiresAt } : undefined;
  }

  function sign(head: Buffer, { purpose, subject }: Bearer, browser: string): Buffer {
    return createHmac('sha256', key)
      .update(JSON.stringify([purpose, subject, browser]))
      .update(head)
      .digest();
  }
}
