import { randomBytes, randomInt } from 'node:crypto';
import { AppError } from '../base/errors.ts';
import type { Actor } from '../changes/audit-entry.ts';
import type { Person } from '../identity/callers.ts';
import type { IssuedToken, NewToken } from '../identity/tokens/token-issuer.ts';
import { readTokenRequest } from '../identity/tokens/token-request.ts';
import { hashSecret } from '../identity/tokens/token-text.ts';
import { latestEnd, type TokenPolicies } from '../tokens/token-policy.ts';

/** A request of a program to act for the user who approves it. */
export interface DeviceRequest {
  readonly userCode: string;
  /** What the program calls itself, such as the name of the machine. */
  readonly name: string;
  readonly scopes: readonly string[];
  readonly expiresAt: Date;
}

export interface DeviceDraft extends DeviceRequest {
  readonly hash: Buffer;
  /** Where the program began. */
  readonly address: string;
  readonly createdAt: Date;
}

/** What a user says about a program, in a session. */
export interface Decision {
  readonly accountId: bigint;
  /** An approval ends with the session. */
  readonly sessionId: bigint;
  readonly isApproved: boolean;
  readonly actor: Actor;
}

export type DeviceState = 'pending' | 'approved' | 'denied';

/** What a poll has found. An approved request is taken: the next poll does not find it. */
export interface Polled {
  readonly state: DeviceState;
  readonly isTooSoon: boolean;
  readonly request: DeviceRequest;
  /** Who has approved it, unless the session has expired, or the account is gone or may not be used any more. */
  readonly person: Pick<Actor, 'id' | 'name'> | undefined;
}

export interface DeviceStore {
  /** False if another request has the same user code. */
  create(draft: DeviceDraft): Promise<boolean>;
  find(userCode: string, now: Date): Promise<DeviceRequest | undefined>;
  /** False if no program waits for an answer under this code, or the session has ended. */
  decide(userCode: string, decision: Decision, now: Date): Promise<boolean>;
  /** Undefined if there is no such request, or it has expired. */
  poll(hash: Buffer, now: Date): Promise<Polled | undefined>;
}

export interface StartedDevice extends DeviceRequest {
  readonly deviceCode: string;
  readonly seconds: number;
  readonly interval: number;
}

interface DevicesParts {
  readonly store: DeviceStore;
  readonly key: Buffer;
  readonly issue: (token: NewToken) => Promise<IssuedToken>;
  readonly policies: Pick<TokenPolicies, 'rulesForUsers' | 'requireCreator'>;
}

export type Devices = ReturnType<typeof createDevices>;

const LIFETIME_S = 600;
/** Seconds that a program waits between two polls. Each poll that comes sooner makes it five more. */
export const INTERVAL_S = 5;
/** No vowels, so that no words come out, and nothing that looks like something else. */
const LETTERS = 'BCDFGHJKLMNPQRSTVWXZ';
const MAX_TRIES = 5;
const DAY_MS = 86_400_000;
/** The life of a token in days, unless the policy says how long tokens may live. */
const USUAL_DAYS = 90;

/**
 * Device authorization, as RFC 8628 describes it: a program shows a code, and its user approves it in a browser. The
 * token policy of the deployment holds: the user who approves must be allowed to create tokens, and since a program
 * asks for no end, its token gets the latest one that the policy allows. An approval ends with the session that it was
 * given in, and with everything that ends all sessions of its user.
 */
export function createDevices({ store, key, issue, policies }: DevicesParts) {
  return { start, find, decide, poll };

  async function start(
    { name, scopes: wanted, address }: { name: string; scopes: readonly string[]; address: string },
    now: Date,
  ): Promise<StartedDevice> {
    const terms = { held: ['all'], heldUntil: null, unsaid: ['all'], now };
    const { scopes } = readTokenRequest({ name, scopes: wanted, expiresAt: null }, terms);
    const deviceCode = randomBytes(32).toString('base64url');
    const expiresAt = new Date(now.getTime() + LIFETIME_S * 1000);
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      const request = { userCode: newUserCode(), name, scopes, expiresAt };
      if (await store.create({ ...request, hash: hashSecret(key, deviceCode), address, createdAt: now })) {
        return { ...request, deviceCode, seconds: LIFETIME_S, interval: INTERVAL_S };
      }
    }
    throw new AppError('unavailable', 'no code is free', { retryAfter: 1 });
  }

  async function find(userCode: string, now: Date): Promise<DeviceRequest> {
    const found = await store.find(plainCode(userCode), now);
    if (!found) throw notFound();
    return found;
  }

  async function decide(
    userCode: string,
    person: Person,
    said: Pick<Decision, 'sessionId' | 'isApproved' | 'actor'>,
    now: Date,
  ): Promise<void> {
    if (said.isApproved) await policies.requireCreator(person);
    if (!(await store.decide(plainCode(userCode), { ...said, accountId: person.id }, now))) throw notFound();
  }

  /** The token, as soon as a user has approved the request. */
  async function poll(deviceCode: string, requestId: string, now: Date): Promise<IssuedToken> {
    const found = await store.poll(hashSecret(key, deviceCode), now);
    if (!found) throw pollFault('expired_token', 'the code has expired, or was used: begin again');
    const { state, isTooSoon, person, request } = found;
    if (state === 'denied') throw pollFault('access_denied', 'the request was denied');
    if (isTooSoon) throw pollFault('slow_down', 'this was too soon: wait five seconds longer than before');
    if (state === 'pending') throw pollFault('authorization_pending', 'the request is not approved yet');
    if (!person)
      throw pollFault('access_denied', 'the session or the account that approved the request has ended: begin again');
    const { name, scopes, userCode } = request;
    const day = now.toISOString().slice(0, 10);
    const rules = await policies.rulesForUsers();
    const usual = rules.maxDays === null ? new Date(now.getTime() + USUAL_DAYS * DAY_MS) : null;
    return await issue({
      accountId: person.id,
      name: `${name}, ${day}, ${userCode}`,
      scopes,
      expiresAt: latestEnd(rules, usual, now),
      actor: { ...person, requestId },
    });
  }
}

/** As people type it: in any case, with or without the hyphen. */
function plainCode(text: string): string {
  const letters = text.toUpperCase().replace(/[^A-Z]/g, '');
  return letters.length === 8 ? `${letters.slice(0, 4)}-${letters.slice(4)}` : '';
}

function newUserCode(): string {
  const letters = Array.from({ length: 8 }, () => LETTERS[randomInt(LETTERS.length)]).join('');
  return plainCode(letters);
}

function pollFault(reason: 'expired_token' | 'access_denied' | 'slow_down' | 'authorization_pending', message: string) {
  return new AppError('invalid', message, { reason });
}

function notFound(): AppError {
  return new AppError('notFound', 'no program waits under this code, or it has expired', {
    reason: 'device_not_found',
  });
}
