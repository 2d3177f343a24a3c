import { createHash } from 'node:crypto';
import { type Statement, sql, type TransactionQuery } from '../db/db.ts';
import { type AuditEntry, viaText } from './audit-entry.ts';
import { keepTexts } from './personal-texts.store.ts';
import { commitTexts } from './personal-texts.ts';
import { isRobotPrincipal, principalOf } from './principal.ts';

const MAX_ID = 2n ** 63n - 1n;
// One writer at a time for each organization, otherwise two rows would follow the same one.
const LOCK = sql(
  'audit.lock',
  `select pg_advisory_xact_lock(hashtextextended('audit', chain)) from unnest($1::bigint[]) as chain`,
);
// Where most entries are of one organization, `where organization_id = chain order by id desc` is planned as a search
// through all entries from the end, and reads the whole log for an organization without recent ones. Only one index has
// the order used here.
const lastOf = (chain: string) => `(select organization_id, hash, at from audit
   where (organization_id, id) <= (${chain}, ${MAX_ID}) order by organization_id desc, id desc limit 1) as last`;
const LAST = sql(
  'audit.last',
  `select chain, last.hash, last.at from unnest($1::bigint[]) as chain
    cross join lateral ${lastOf('chain')} where last.organization_id = chain`,
);
/** The columns of a row, in the order in which `follow` gives their values. */
const COLUMNS = [
  ['at', 'timestamptz'],
  ['organization_id', 'bigint'],
  ['actor_id', 'bigint'],
  ['actor_name', 'text'],
  ['action', 'text'],
  ['object_type', 'text'],
  ['object_id', 'bigint'],
  ['before', 'text'],
  ['after', 'text'],
  ['request_id', 'text'],
  ['previous_hash', 'bytea'],
  ['hash', 'bytea'],
  ['on_behalf_id', 'bigint'],
  ['on_behalf_name', 'text'],
  ['via', 'text'],
] as const;
const PLAIN_COLUMNS = 12;
/** All of these except the two hashes. */
const GIVEN_COLUMNS = 10;
const START = Buffer.alloc(32);
const INSERT = insertOf('audit.insert', PLAIN_COLUMNS);
/**
 * The same for entries of different chains. The database itself finds the end that each follows and computes its hash, as
 * `chainHash` does, so that the writer holds the lock of a chain only while it commits.
 */
const APPEND = appendOf('audit.append');
/**
 * Only few entries are made on behalf of another user, or with a token that was issued for an outside one, and schemas of
 * older backups do not know of them.
 */
const INSERT_WHOLE = insertOf('audit.insertWhole', COLUMNS.length);
/**
 * In one statement: states can be long, and hashing and sending them all in one piece would keep other requests
 * waiting.
 */
const MAX_ROWS = 100;
/** In one statement: a user may leave thousands of organizations at the same time. */
const MAX_CHAINS = 500;

/** The end of a chain, which the next row follows. */
interface End {
  readonly hash: Buffer;
  readonly at: Date;
}

/**
 * Writes any number of entries with a few statements: a thousand roles may change at the same time, or a hundred
 * chains.
 */
export async function appendAudit(query: TransactionQuery, given: readonly AuditEntry[]): Promise<void> {
  if (given.length === 0) return;
  const committed = given.map(commitTexts);
  const entries = committed.map(({ entry }) => entry);
  for (let first = 0; first < committed.length; first += MAX_ROWS) {
    keepTexts(
      query,
      committed.slice(first, first + MAX_ROWS).flatMap(({ texts }) => texts),
    );
  }
  // In the same order for every writer, so that two that write to the same chains cannot block each other.
  const chains = [...Map.groupBy(entries, ({ organizationId }) => organizationId)].sort(([a], [b]) => (a < b ? -1 : 1));
  const continued = chains.filter(([, [first]]) => !first?.startsChain).map(([chain]) => chain);
  const isOneEach = entries.length === chains.length && entries.length <= MAX_ROWS;
  if (isOneEach && continued.length > 0 && !entries.some(needsAllColumns)) {
    query.later(LOCK, [continued]);
    const rows = chains.flatMap(([, links]) => links).map(givenOf);
    query.later(APPEND, columnsOf(rows, GIVEN_COLUMNS + 1));
    return;
  }
  const ends = await endsOf(query, continued);
  const turns = chains.flatMap(([chain, links]) => links.map((entry) => ({ chain, entry })));
  for (let first = 0; first < turns.length; first += MAX_ROWS) {
    const part = turns.slice(first, first + MAX_ROWS);
    const rows = part.map(({ chain, entry }) => {
      const { row, end } = follow(ends.get(chain), entry);
      ends.set(chain, end);
      return row;
    });
    const isWhole = part.some(({ entry }) => needsAllColumns(entry));
    const columns = columnsOf(rows, isWhole ? COLUMNS.length : PLAIN_COLUMNS);
    const isLast = first + MAX_ROWS >= turns.length;
    await (isLast ? query.later : query)(isWhole ? INSERT_WHOLE : INSERT, columns);
  }
}

function needsAllColumns({ actor: { sudoBy, via } }: AuditEntry): boolean {
  return sudoBy !== undefined || via !== undefined;
}

/** IDs are assigned in the order of the arrays, so that they follow the chain. */
function insertOf(name: string, length: number): Statement {
  const columns = COLUMNS.slice(0, length);
  const names = columns.map(([column]) => column).join(', ');
  const values = columns.map(selected);
  const arrays = columns.map(([, type], at) => `$${at + 1}::${type}[]`);
  return sql(
    name,
    `insert into audit (${names}) select ${values.join(', ')}
       from unnest(${arrays.join(', ')}) with ordinality as e (${names}, place) order by e.place`,
  );
}

/** `hashed` is what the hash covers between the time and the hash of the entry before, as JSON. See `chainHash`. */
function appendOf(name: string): Statement {
  const given = [...COLUMNS.slice(0, GIVEN_COLUMNS), ['hashed', 'text']] as const;
  const names = given.map(([column]) => column).join(', ');
  const arrays = given.map(([, type], at) => `$${at + 1}::${type}[]`).join(', ');
  const [, ...kept] = COLUMNS.slice(0, GIVEN_COLUMNS).map(selected);
  const at = `to_char(n.at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;
  const robot = `case when e.actor_id < 0 then ',"robot_ac"' else '' end`;
  const text = `'["' || ${at} || '",' || e.hashed || ',"' || encode(n.previous_hash, 'hex') || '"' || ${robot} || ']'`;
  const columns = COLUMNS.slice(0, PLAIN_COLUMNS).map(([column]) => column);
  return sql(
    name,
    `insert into audit (${columns.join(', ')})
     select n.at, ${kept.join(', ')}, n.previous_hash, sha256(n.previous_hash || convert_to(${text}, 'UTF8'))
       from unnest(${arrays}) with ordinality as e (${names}, place)
       left join lateral ${lastOf('e.organization_id')} on last.organization_id = e.organization_id
       cross join lateral (select greatest(e.at, date_trunc('milliseconds', last.at)) as at,
                                  coalesce(last.hash, '\\x${START.toString('hex')}') as previous_hash) as n
      order by e.place`,
  );
}

function selected([column]: (typeof COLUMNS)[number]): string {
  return column === 'before' || column === 'after' || column === 'via' ? `e.${column}::json` : `e.${column}`;
}

async function endsOf(query: TransactionQuery, chains: readonly bigint[]): Promise<Map<bigint, End>> {
  if (chains.length === 0) return new Map();
  const ends = new Map<bigint, End>();
  for (let first = 0; first < chains.length; first += MAX_CHAINS) {
    const some = chains.slice(first, first + MAX_CHAINS);
    query.later(LOCK, [some]);
    const rows = await query<{ chain: bigint; hash: Buffer; at: Date }>(LAST, [some]);
    for (const { chain, hash, at } of rows) ends.set(chain, { hash, at });
  }
  return ends;
}

/**
 * The next row of a chain. Its time never runs backwards, even if the clocks of two machines differ, so the order of
 * times is the order of IDs.
 */
function follow(last: End | undefined, entry: AuditEntry): { row: unknown[]; end: End } {
  const at = new Date(Math.max(Date.now(), last?.at.getTime() ?? 0));
  const link = linkOf(entry, at, last?.hash ?? START);
  const hash = chainHash(link);
  return { row: [...plainFields(link), hash, link.on_behalf_id, link.on_behalf_name, link.via], end: { hash, at } };
}

/** What APPEND needs of an entry. */
function givenOf(entry: AuditEntry): unknown[] {
  const link = linkOf(entry, new Date(), START);
  const covered = plainFields(asHashed(link)).slice(1, GIVEN_COLUMNS);
  return [...plainFields(link).slice(0, GIVEN_COLUMNS), JSON.stringify(covered.map(hashed)).slice(1, -1)];
}

function linkOf(entry: AuditEntry, at: Date, previous: Buffer): HashedEntry {
  const { sudoBy, via, ...user } = entry.actor;
  const actor = sudoBy ?? user;
  return {
    at,
    organization_id: entry.organizationId,
    actor_id: actor.id,
    actor_name: actor.name,
    action: entry.action,
    object_type: entry.objectType,
    object_id: entry.objectId,
    before: text(entry.before),
    after: text(entry.after),
    request_id: user.requestId,
    previous_hash: previous,
    on_behalf_id: sudoBy ? user.id : null,
    on_behalf_name: sudoBy ? user.name : null,
    via: via ? viaText(via) : null,
  };
}

function columnsOf(rows: readonly (readonly unknown[])[], count: number): unknown[][] {
  return Array.from({ length: count }, (_, column) => rows.map((row) => row[column]));
}

/** What the hash of an entry covers, as it is stored. */
export interface HashedEntry {
  readonly at: Date | string;
  readonly organization_id: bigint;
  readonly actor_id: bigint;
  readonly actor_name: string;
  readonly action: string;
  readonly object_type: string;
  readonly object_id: bigint;
  readonly before: string | null;
  readonly after: string | null;
  readonly request_id: string;
  readonly previous_hash: Buffer;
  readonly on_behalf_id: bigint | null;
  readonly on_behalf_name: string | null;
  readonly via: string | null;
}

/** In the order in which they are hashed, which is also that of the columns. */
function plainFields(entry: HashedEntry): unknown[] {
  return [
    entry.at,
    entry.organization_id,
    entry.actor_id,
    entry.actor_name,
    entry.action,
    entry.object_type,
    entry.object_id,
    entry.before,
    entry.after,
    entry.request_id,
    entry.previous_hash,
  ];
}

/** A changed, removed or inserted row breaks the chain after it. */
export function chainHash(entry: HashedEntry): Buffer {
  // An entry that was not made on behalf of a user is hashed as before there was such a thing.
  const isOnBehalf = entry.on_behalf_id !== null || entry.on_behalf_name !== null;
  const behalf = isOnBehalf ? [entry.on_behalf_id, entry.on_behalf_name] : [];
  // Robots have IDs of their own, so what a robot did is hashed with the type of its actor.
  const type = isRobotPrincipal(entry.actor_id) ? [principalOf(entry.actor_id).type] : [];
  const via = entry.via === null ? [] : [entry.via];
  const fields = [...plainFields(asHashed(entry)), ...behalf, ...type, ...via].map(hashed);
  return createHash('sha256').update(entry.previous_hash).update(JSON.stringify(fields)).digest();
}

/** With the ID of its actor as responses show it. */
function asHashed(entry: HashedEntry): HashedEntry {
  return isRobotPrincipal(entry.actor_id) ? { ...entry, actor_id: principalOf(entry.actor_id).id } : entry;
}

/** A field as it is hashed. */
function hashed(value: unknown): string | null {
  if (value instanceof Date) return value.toISOString();
  return Buffer.isBuffer(value) ? value.toString('hex') : value === null ? null : String(value);
}

function text(state: object | undefined): string | null {
  if (state === undefined) return null;
  return JSON.stringify(state, (_key, value) => (typeof value === 'bigint' ? value.toString() : value));
}
