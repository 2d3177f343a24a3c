import { createYielder } from '../../base/scheduling/slices.ts';
import { type AuditEntry, SERVER } from '../../changes/audit-entry.ts';
import { type ErasedTexts, eraseTexts, type Identifying, type Whose } from '../../changes/personal-texts.ts';
import { PLATFORM, type TransactionQuery, type Write } from '../../changes/write.ts';
import { type Query, sql } from '../../db/db.ts';
import { type ErasedIdentity, type Fingerprint, whoseOf } from './erased-identifiers.ts';

/**
 * Erases people from entries of earlier releases, which have names in clear text under their hash.
 *
 * 1. The text is removed and the hash stays, so the entries after it still follow.
 * 2. One entry `user.erase` lists the erased ones of each person, in the transaction that erases them. So none is erased
 *    without that.
 * 3. A part at a time, and each notes how far it came: another process, or a later one, goes on there.
 * 4. People who are as far are erased together, so a hundred of them take as long as one.
 */
/** Entries that one transaction looks at, which is also how many one `user.erase` lists at most. */
const PART = 500;
/** Some entries are long, and all of a part are in memory. */
const PART_BYTES = 4_000_000;
const PEOPLE = 1000;
const LAST_OF_PART = sql(
  'plainEntries.lastOfPart',
  `select max(id) as last from (
     select id, row_number() over w as place, sum(bytes) over w as bytes from (
       select id, coalesce(octet_length(before::text), 0) + coalesce(octet_length(after::text), 0) as bytes
         from audit where id > $1 and id <= (select last_id from audit_plain) order by id limit ${PART}) p
     window w as (order by id)) q where place = 1 or bytes <= ${PART_BYTES}`,
);
const BEHIND = sql(
  'plainEntries.behind',
  `select account_id as id, plain_id, coalesce(identifiers, '{}') as identifiers from erasure
    where plain_id < (select last_id from audit_plain) order by plain_id, account_id limit ${PEOPLE}`,
);
// Another process that is at the same place waits here, and then finds that they are not there any more.
const ADVANCE = sql(
  'plainEntries.advance',
  `update erasure set plain_id = $3 where account_id = any (array (
     select account_id from erasure where account_id = any($1::bigint[]) and plain_id = $2 order by account_id for update))
   returning account_id as id`,
);
const COLUMNS = `id, organization_id, actor_id, actor_name, action, object_type, object_id, before::text as before,
  after::text as after, on_behalf_id, on_behalf_name, hash`;
// Another user may be erased from the same entries.
const ENTRIES = sql(
  'plainEntries.list',
  `select ${COLUMNS} from audit where id > $1 and id <= $2 order by id for no key update`,
);
const ERASE = sql(
  'plainEntries.erase',
  `update audit a set actor_name = e.actor_name, on_behalf_name = e.on_behalf_name, before = e.before::json,
          after = e.after::json, is_erased = true
     from unnest($1::bigint[], $2::text[], $3::text[], $4::text[], $5::text[])
            as e (id, actor_name, on_behalf_name, before, after)
    where a.id = e.id`,
);
// What archived entries are kept for needs no hash of theirs to be computed.
const KEPT = sql(
  'plainEntries.kept',
  `select id, organization_id, actor_id, action, after, review_id from audit_kept
    where id > $1 and id <= (select last_id from audit_plain) and after is not null order by id limit ${PART}
      for no key update`,
);
const ERASE_KEPT = sql(
  'plainEntries.eraseKept',
  `update audit_kept k set after = e.after from unnest($1::bigint[], $2::text[]) as e (id, after) where k.id = e.id`,
);
// What the person was called before.
const OWN = sql(
  'plainEntries.own',
  `select before::text as before, after::text as after from audit
    where object_type = 'user' and object_id = $1 and id <= (select last_id from audit_plain)
    order by object_type, object_id, at desc, id desc limit 1000`,
);
// An erasure that begins meanwhile waits, and then finds the entries.
const NO_ERASURES = sql('plainEntries.noErasures', `select pg_advisory_xact_lock(hashtextextended('erasure', 0))`);
const LAST_PLAIN = sql('plainEntries.last', 'select last_id from audit_plain');
const ERASED = sql(
  'plainEntries.erased',
  `select account_id as id, coalesce(identifiers, '{}') as identifiers from erasure`,
);

interface Row {
  id: bigint;
  organization_id: bigint;
  actor_id: bigint;
  actor_name: string;
  action: string;
  object_type: string;
  object_id: bigint;
  before: string | null;
  after: string | null;
  on_behalf_id: bigint | null;
  on_behalf_name: string | null;
  hash: Buffer;
}

type KeptRow = Pick<Row, 'id' | 'organization_id' | 'actor_id' | 'action' | 'after'> & { review_id: bigint | null };

/** Names and addresses that entries of earlier releases have of a user, in lower case. */
export async function plainIdentifiers(query: Query, id: bigint): Promise<string[]> {
  const rows = await query<Pick<Row, 'before' | 'after'>>(OWN, [id]);
  const states = rows.flatMap(({ before, after }) => [stateIn(before), stateIn(after)]);
  const names = states.flatMap((state) => [state?.username, state?.email, state?.address]);
  return names.filter((name) => typeof name === 'string' && name !== '').map((name) => String(name).toLowerCase());
}

type Note = (entry: AuditEntry) => void;
/** The elements of an entry that can identify people. */
export type PlainRow = Row;

/** Erases everyone who is not erased from all of these entries yet. */
export async function erasePlainEntries(query: Query, write: Write, fingerprint?: Fingerprint): Promise<void> {
  for (;;) {
    const behind = await query<ErasedIdentity & { plain_id: bigint }>(BEHIND);
    const first = behind[0]?.plain_id;
    if (first === undefined) return;
    const group = behind.filter((one) => one.plain_id === first);
    const next = behind.find((one) => one.plain_id !== first)?.plain_id;
    if (!(await eraseUpTo(next, group, first))) return;
  }

  /** False if there are no entries any more. */
  async function eraseUpTo(next: bigint | undefined, group: readonly ErasedIdentity[], from: bigint): Promise<boolean> {
    for (let first = from; next === undefined || first < next; ) {
      const [part] = await query<{ last: bigint | null }>(LAST_OF_PART, [first]);
      if (!part?.last) return next !== undefined && (await skipTo(next, group, first));
      const last = next !== undefined && next < part.last ? next : part.last;
      await write((inside, _touch, record) => erasePart(inside, group, [first, last], record, fingerprint));
      first = last;
    }
    return true;
  }

  async function skipTo(next: bigint, group: readonly ErasedIdentity[], first: bigint): Promise<boolean> {
    return (await query(ADVANCE, [group.map(({ id }) => id), first, next])).length > 0;
  }
}

async function erasePart(
  query: TransactionQuery,
  group: readonly ErasedIdentity[],
  [first, last]: readonly [bigint, bigint],
  record: Note,
  fingerprint: Fingerprint | undefined,
): Promise<void> {
  const advanced = await query<{ id: bigint }>(ADVANCE, [group.map(({ id }) => id), first, last]);
  const ids = new Set(advanced.map(({ id }) => id));
  if (ids.size === 0) return;
  const whose = whoseOf(
    group.filter(({ id }) => ids.has(id)),
    fingerprint,
  );
  const rows = await query<Row>(ENTRIES, [first, last]);
  const erased = await eraseRows(rows, whose);
  if (erased.length === 0) return;
  await query(ERASE, [
    erased.map(({ row }) => row.id),
    erased.map(({ row }) => row.actor_name),
    erased.map(({ row }) => row.on_behalf_name),
    erased.map(({ row }) => row.before),
    erased.map(({ row }) => row.after),
  ]);
  attest(erased, record);
}

export interface ErasedRow<Row extends PlainRow> {
  readonly row: Row;
  readonly people: ReadonlySet<bigint>;
}

/** Those of the rows that identify people who are to be erased, without what does. */
async function eraseRows<Some extends PlainRow>(rows: readonly Some[], whose: Whose): Promise<ErasedRow<Some>[]> {
  const yieldIfDue = createYielder();
  const found: ErasedRow<Some>[] = [];
  for (const row of rows) {
    const erased = eraseTexts(toIdentifying(row), whose);
    if (erased) found.push({ row: withTexts(row, erased), people: erased.people });
    await yieldIfDue();
  }
  return found;
}

/** In an entry for each person, and for so many. */
function attest(erased: readonly ErasedRow<PlainRow>[], record: Note): void {
  const pairs = erased.flatMap(({ row, people }) => [...people].map((person) => ({ person, row })));
  for (const [person, some] of Map.groupBy(pairs, (pair) => pair.person)) {
    const entries = some.map(({ row }) => ({
      ...{ organizationId: row.organization_id, id: row.id, hash: row.hash.toString('hex') },
    }));
    const about = { organizationId: PLATFORM, action: 'user.erase', objectType: 'user', objectId: person } as const;
    for (let first = 0; first < entries.length; first += PART) {
      record({ actor: SERVER, ...about, after: { entries: entries.slice(first, first + PART) } });
    }
  }
}

/**
 * Entries that were archived before people were erased, without these people, and what attests that. A part of the
 * transaction that puts the entries back, so no reader sees them with the people.
 */
export async function eraseRestored<Some extends PlainRow & { readonly is_erased: boolean }>(
  query: Query,
  record: Note,
  rows: readonly Some[],
  fingerprint: Fingerprint,
): Promise<readonly Some[]> {
  const [plain] = await query<{ last_id: bigint }>(LAST_PLAIN);
  if (!plain || !rows.some(({ id }) => id <= plain.last_id)) return rows;
  await query(NO_ERASURES);
  const whose = whoseOf(await query<ErasedIdentity>(ERASED), fingerprint);
  const erased = await eraseRows(
    rows.filter(({ id }) => id <= plain.last_id),
    whose,
  );
  attest(erased, record);
  const changed = new Map(erased.map(({ row }) => [row.id, { ...row, is_erased: true }]));
  return rows.map((row) => changed.get(row.id) ?? row);
}

/** The same in what is kept of archived entries, which needs no attestation. */
export async function eraseKeptEntries(
  write: Write,
  people: readonly ErasedIdentity[],
  fingerprint?: Fingerprint,
): Promise<void> {
  const whose = whoseOf(people, fingerprint);
  for (let after: bigint | undefined = 0n; after !== undefined; ) {
    const from: bigint = after;
    after = await write((inside) => eraseKept(inside, whose, from));
  }
}

/** Where the next part begins, if there is one. */
async function eraseKept(query: TransactionQuery, whose: Whose, after: bigint): Promise<bigint | undefined> {
  const rows = await query<KeptRow>(KEPT, [after]);
  const erased = rows.flatMap((row) => {
    const objectType = row.review_id === null ? 'token' : 'review';
    const plain = { ...row, object_type: objectType, object_id: 0n, actor_name: '', before: null };
    const found = eraseTexts(toIdentifying({ ...plain, on_behalf_id: null, on_behalf_name: null }), whose);
    return found ? [{ id: row.id, after: textOf(row.after, found.entry.after) }] : [];
  });
  if (erased.length > 0) await query(ERASE_KEPT, [erased.map((one) => one.id), erased.map((one) => one.after)]);
  return rows.length < PART ? undefined : rows.at(-1)?.id;
}

function withTexts<Some extends PlainRow>(
  row: Some,
  { entry: { actor, before, after } }: ErasedTexts<Identifying>,
): Some {
  return {
    ...row,
    actor_name: (actor.sudoBy ?? actor).name,
    on_behalf_name: actor.sudoBy ? actor.name : null,
    before: textOf(row.before, before),
    after: textOf(row.after, after),
  };
}

/** With sudo, the entry is under the administrator, and on behalf of the user. */
function toIdentifying(row: Omit<Row, 'hash'>): Identifying {
  const named = { id: row.actor_id, name: row.actor_name };
  const isSudo = row.on_behalf_id !== null;
  const user = isSudo ? { id: row.on_behalf_id ?? 0n, name: row.on_behalf_name ?? '', sudoBy: named } : named;
  return {
    actor: { ...user, requestId: '' },
    ...{ organizationId: row.organization_id, action: row.action },
    ...{ objectType: row.object_type, objectId: row.object_id },
    ...{ before: stateIn(row.before), after: stateIn(row.after) },
  };
}

function stateIn(json: string | null): Readonly<Record<string, unknown>> | undefined {
  if (json === null) return undefined;
  const state: unknown = JSON.parse(json);
  return typeof state === 'object' && state !== null && !Array.isArray(state) ? { ...state } : undefined;
}

function textOf(json: string | null, state: object | undefined): string | null {
  return state === undefined ? json : JSON.stringify(state);
}
