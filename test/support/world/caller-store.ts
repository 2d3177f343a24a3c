import type { CallerStore, Organization, Person, SessionGrant, TokenGrant } from '../../../src/identity/callers.ts';
import type { PersonRow } from '../../../src/identity/person.rows.ts';
import { hashSecret } from '../../../src/identity/tokens/token-text.ts';

/** The key that CallerStores in memory expect. */
export const CALLER_KEY = Buffer.alloc(32, 1);

/** A user as the database has them, unless `changes` says otherwise. */
export function personRow(changes: Partial<PersonRow> = {}): PersonRow & { id: bigint } {
  const texts = { full_name: '', language: '', location: '', website: '', description: '' };
  const flags = { is_admin: false, active: true, prohibit_login: false, in_client_organization: false };
  const factors = { has_passkey: false, has_totp: false };
  const nothing = { email: null, last_login_at: null, password_hash: null, organization_ids: null, permissions: null };
  const id = changes.id ?? 1n;
  return {
    revision: 1n,
    stamp: '',
    name: 'ann',
    created_at: new Date(0),
    ...texts,
    ...flags,
    ...factors,
    ...nothing,
    ...changes,
    id,
  };
}

/** A token of this user that may do everything and never expires, unless `changes` says otherwise. */
export function tokenGrant(person: Person, changes: Partial<TokenGrant> = {}): TokenGrant {
  return { person, tokenId: person.id, robot: null, scopes: ['all'], limits: undefined, expiresAt: null, ...changes };
}

/** A session of this user that was opened with a password long ago, unless `changes` says otherwise. */
export function sessionGrant(person: Person, changes: Partial<SessionGrant> = {}): SessionGrant {
  const opened = changes.createdAt ?? new Date(0);
  const moments = { createdAt: opened, provenAt: opened, expiresAt: opened };
  const unchecked = { lastSeenAt: opened, idleMs: null, checkAt: null, checkUntil: null };
  const how = { csrf: '', method: 'password', token: null } as const;
  return { person, sessionId: person.id, ...how, ...moments, ...unchecked, ...changes };
}

interface Known {
  readonly people?: readonly Person[];
  /** By what the client sends. */
  readonly tokens?: ReadonlyMap<string, TokenGrant>;
  readonly sessions?: ReadonlyMap<string, SessionGrant>;
  readonly organizations?: readonly Organization[];
}

/** A CallerStore in memory. `asked` has every name that was looked up, `token` or `session` for a credential. */
export function createMemoryCallers({
  people = [],
  tokens = new Map(),
  sessions = new Map(),
  organizations = [],
}: Known) {
  const asked: string[] = [];
  const found = async <T>(what: string, value: T | undefined) => {
    asked.push(what);
    return { revision: 1n, stamp: '', value };
  };
  const behind = <T>(known: ReadonlyMap<string, T>, hash: Buffer) =>
    [...known].find(([text]) => hashSecret(CALLER_KEY, text).equals(hash))?.[1];
  const store: CallerStore = {
    byToken: (hash) => found('token', behind(tokens, hash)),
    bySession: (hash) => found('session', behind(sessions, hash)),
    byLogin: (login) =>
      found(
        login,
        people.find((person) => [person.login.toLowerCase(), person.email].includes(login)),
      ),
    byId: (id) =>
      found(
        String(id),
        people.find((person) => person.id === id),
      ),
    organization: (name) =>
      found(
        name,
        organizations.find((organization) => organization.name === name),
      ),
  };
  return { store, asked };
}

/** The revision never moves. */
export const STILL = {
  current: async () => undefined,
  whenCurrent: (done: () => void) => done(),
  latest: 1n,
  isLatest: () => true,
  requireAfter: () => undefined,
  listen: () => undefined,
};
