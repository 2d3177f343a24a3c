import type { OutsideToken } from '../changes/audit-entry.ts';
import type { Loaded } from '../changes/exact-cache.ts';
import type { Moment } from '../changes/revision.ts';
import { type Db, only, sql } from '../db/db.ts';
import type { CallerStore, Organization, Person, SessionGrant, TokenGrant } from './callers.ts';
import { DETAILS, PERSON, type PersonRow, personOfRobot, toPerson } from './person.rows.ts';
import type { SessionMethod } from './sessions/proof-kinds.ts';
import { HAS_ORIGIN, SCOPES_OF_TOKEN, type StoredLimits, toLimits } from './tokens/token.rows.ts';

interface TokenRow extends PersonRow {
  token_id: bigint;
  robot_id: bigint | null;
  robot_name: string | null;
  robot_created_at: Date | null;
  scopes: string[];
  limits: StoredLimits | null;
  expires_at: Date | null;
  trust_rule_id: bigint | null;
  via: Omit<OutsideToken, 'rule'> | null;
  delegated: boolean;
  token_name: string;
}

interface SessionRow extends PersonRow {
  session_id: bigint;
  csrf: string;
  opened_at: Date;
  expires_at: Date;
  method: SessionMethod;
  proven_at: Date;
  last_seen_at: Date;
  idle_minutes: number | null;
  check_at: Date | null;
  check_until: Date | null;
  token_id: bigint | null;
  token_expires_at: Date | null;
}

const BY_TOKEN = sql(
  'callers.byToken',
  `select ${PERSON}, k.id as token_id, k.robot_id, b.name as robot_name, b.created_at as robot_created_at,
          ${SCOPES_OF_TOKEN('k')}, k.limits, k.expires_at, k.trust_rule_id, k.via,
          k.delegated, k.name as token_name
     from revision r left join token k on k.hash = $1 and ${HAS_ORIGIN('k')} left join robot b on b.id = k.robot_id
          left join account a on a.id = k.account_id ${DETAILS}`,
);
// Earlier releases let a session of a provider last for a month. None of them lasts for more than a day now.
const SESSION_WHERE = (which: string) =>
  `select ${PERSON}, s.id as session_id, s.csrf, s.created_at as opened_at,
          case when p.id is not null and p.checked_at is null
               then least(s.expires_at, s.created_at + interval '1 day') else s.expires_at end as expires_at,
          coalesce(s.last_seen_at, s.created_at) as last_seen_at, s.idle_minutes, p.check_at, p.check_until,
          coalesce(s.method, case when s.token_id is null then 'password' else 'token' end) as method,
          coalesce(s.proven_at, s.created_at) as proven_at, s.token_id, k.expires_at as token_expires_at
     from revision r left join session s on ${which} left join token k on k.id = s.token_id
          left join session_provider p on p.session_id = s.id
          left join account a on a.id = s.account_id ${DETAILS}`;
const BY_SESSION = sql('callers.bySession', SESSION_WHERE('s.hash = $1'));
const BY_TOKEN_ID = sql(
  'callers.byTokenId',
  `select ${PERSON}, k.id as token_id, k.robot_id, b.name as robot_name, b.created_at as robot_created_at,
          ${SCOPES_OF_TOKEN('k')}, k.limits, k.expires_at, k.trust_rule_id, k.via,
          k.delegated, k.name as token_name
     from revision r left join token k on k.id = $1 and ${HAS_ORIGIN('k')} left join robot b on b.id = k.robot_id
          left join account a on a.id = k.account_id ${DETAILS}`,
);
const BY_SESSION_ID = sql('callers.bySessionId', SESSION_WHERE('s.id = $1'));
const BY_LOGIN = sql(
  'callers.byLogin',
  `select ${PERSON} from revision r left join account a on a.kind = 'user' and (a.name_key = $1
     or a.id = (select v.account_id from email v where v.address_key = $1 and v.verified)) ${DETAILS}`,
);
const BY_ID = sql(
  'callers.byId',
  `select ${PERSON} from revision r left join account a on a.kind = 'user' and a.id = $1 ${DETAILS}`,
);
const ORGANIZATION = sql(
  'callers.organization',
  `select r.value as revision, r.stamp, a.id, a.name from revision r
     left join account a on a.name_key = $1 and a.kind = 'organization' where r.id = 1`,
);

export function createCallerStore(db: Db): CallerStore {
  return { byToken, bySession, byLogin, byId, byTokenId, bySessionId, organization };

  async function byToken(hash: Buffer): Promise<Loaded<TokenGrant>> {
    return loaded(await db.query<TokenRow>(BY_TOKEN, [hash]), toTokenGrant);
  }

  async function byTokenId(id: bigint): Promise<Loaded<TokenGrant>> {
    return loaded(await db.query<TokenRow>(BY_TOKEN_ID, [id]), toTokenGrant);
  }

  async function bySession(hash: Buffer): Promise<Loaded<SessionGrant>> {
    return loaded(await db.query<SessionRow>(BY_SESSION, [hash]), toSessionGrant);
  }

  async function bySessionId(id: bigint): Promise<Loaded<SessionGrant>> {
    return loaded(await db.query<SessionRow>(BY_SESSION_ID, [id]), toSessionGrant);
  }

  async function byLogin(login: string): Promise<Loaded<Person>> {
    const rows = await db.query<PersonRow>(BY_LOGIN, [login]);
    return loaded(rows, toPerson);
  }

  async function byId(id: bigint): Promise<Loaded<Person>> {
    const rows = await db.query<PersonRow>(BY_ID, [id]);
    return loaded(rows, toPerson);
  }

  async function organization(name: string): Promise<Loaded<Organization>> {
    const rows = await db.query<Moment & { id: bigint; name: string }>(ORGANIZATION, [name]);
    return loaded(rows, ({ id, name: spelled }) => ({ id, name: spelled }));
  }
}

function toTokenGrant(found: TokenRow & { id: bigint }): TokenGrant {
  return {
    ...bearerOf(found),
    tokenId: found.token_id,
    scopes: found.scopes,
    limits: toLimits(found.limits),
    expiresAt: found.expires_at,
    ...outsideOf(found),
    ...(found.delegated && { delegate: found.token_name }),
  };
}

function toSessionGrant(found: SessionRow & { id: bigint }): SessionGrant {
  return {
    person: toPerson(found),
    sessionId: found.session_id,
    csrf: found.csrf,
    createdAt: found.opened_at,
    expiresAt: found.expires_at,
    method: found.method,
    provenAt: found.proven_at,
    lastSeenAt: found.last_seen_at,
    idleMs: found.idle_minutes === null ? null : found.idle_minutes * 60_000,
    checkAt: found.check_at,
    checkUntil: found.check_until,
    token: found.token_id === null ? null : { id: found.token_id, expiresAt: found.token_expires_at },
  };
}

/** The user that a token belongs to. A token of a robot belongs to the organization that the robot works for. */
function bearerOf(row: TokenRow & { id: bigint }): Pick<TokenGrant, 'person' | 'robot'> {
  const account = toPerson(row);
  // An agent never administers the site.
  if (row.delegated) return { person: { ...account, isAdmin: false }, robot: null };
  if (row.robot_id === null) return { person: account, robot: null };
  const organization = { id: account.id, name: account.login };
  const robot = { id: row.robot_id, name: row.robot_name ?? '', organization };
  return { person: personOfRobot(robot, account, row.robot_created_at ?? account.createdAt), robot };
}

function outsideOf({ trust_rule_id: rule, via }: TokenRow): Pick<TokenGrant, 'outside'> {
  if (rule === null || via === null) return {};
  const { issuer, subject, jti } = via;
  return { outside: { issuer, subject, rule, jti } };
}

function loaded<Row extends Moment & { id: bigint | null }, V>(
  rows: readonly Row[],
  build: (row: Row & { id: bigint }) => V,
): Loaded<V> {
  const row = only(rows);
  const { revision, stamp } = row;
  return { revision, stamp, value: row.id === null ? undefined : build({ ...row, id: row.id }) };
}
