import { SERVER } from '../../changes/audit-entry.ts';
import { eraseTexts, type Identifying } from '../../changes/personal-texts.ts';
import { PLATFORM, type TransactionQuery, type Write } from '../../changes/write.ts';
import { type Query, sql } from '../../db/db.ts';

/**
 * Erases people from entries of earlier releases, which have names in clear text under their hash.
 *
 * 1. The text is removed and the hash stays, so the entries after it still follow.
 * 2. One entry `user.erase` lists the erased ones, in the transaction that erases them. So none is erased without that.
 * 3. A part at a time, and each notes how far it came: another process, or a later one, goes on there.
 */
/** Entries that one transaction looks at, which is also how many one `user.erase` can list. */
const PART = 500;
const LAST_OF_PART = sql(
  'plainEntries.lastOfPart',
  `select max(id) as last from (
     select id from audit where id > $1 and id <= (select last_id from audit_plain) order by id limit ${PART}) p`,
);
const PLACE = sql('plainEntries.place', 'select plain_id, identifiers from erasure where account_id = $1');
// Another process that is at the same place waits here, and then finds that it is not there any more.
const ADVANCE = sql(
  'plainEntries.advance',
  'update erasure set plain_id = $3 where account_id = $1 and plain_id = $2 returning 1',
);
const COLUMNS = `id, organization_id, actor_id, actor_name, action, object_type, object_id, before::text as before,
  after::text as after, on_behalf_id, on_behalf_name, hash`;
// Somebody else may be erased from the same entries.
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

export async function erasePlainEntries(query: Query, write: Write, id: bigint): Promise<void> {
  let identifiers: readonly string[] = [];
  for (;;) {
    const [at] = await query<{ plain_id: bigint; identifiers: string[] | null }>(PLACE, [id]);
    if (!at) return;
    identifiers = at.identifiers ?? [];
    const [part] = await query<{ last: bigint | null }>(LAST_OF_PART, [at.plain_id]);
    if (!part?.last) break;
    const [first, last] = [at.plain_id, part.last];
    await write((inside, _touch, record) => erasePart(inside, { id, first, last }, identifiers, record));
  }
  const known = new Set(identifiers);
  for (let after: bigint | undefined = 0n; after !== undefined; ) {
    const from: bigint = after;
    after = await write((inside) => eraseKept(inside, id, known, from));
  }
}

async function erasePart(
  query: TransactionQuery,
  { id, first, last }: { readonly id: bigint; readonly first: bigint; readonly last: bigint },
  identifiers: readonly string[],
  record: Parameters<Parameters<Write>[0]>[2],
): Promise<void> {
  if ((await query(ADVANCE, [id, first, last])).length === 0) return;
  const known = new Set(identifiers);
  const rows = await query<Row>(ENTRIES, [first, last]);
  const erased = rows.flatMap((row) => {
    const entry = eraseTexts(toIdentifying(row), id, known);
    return entry ? [{ row, entry }] : [];
  });
  if (erased.length === 0) return;
  await query(ERASE, [
    erased.map(({ row }) => row.id),
    erased.map(({ entry: { actor } }) => (actor.sudoBy ?? actor).name),
    erased.map(({ entry: { actor } }) => (actor.sudoBy ? actor.name : null)),
    erased.map(({ row, entry }) => textOf(row.before, entry.before)),
    erased.map(({ row, entry }) => textOf(row.after, entry.after)),
  ]);
  const entries = erased.map(({ row }) => ({
    ...{ organizationId: row.organization_id, id: row.id, hash: row.hash.toString('hex') },
  }));
  const about = { organizationId: PLATFORM, action: 'user.erase', objectType: 'user', objectId: id } as const;
  record({ actor: SERVER, ...about, after: { entries } });
}

/** Where the next part begins, if there is one. */
async function eraseKept(
  query: TransactionQuery,
  id: bigint,
  identifiers: ReadonlySet<string>,
  after: bigint,
): Promise<bigint | undefined> {
  const rows = await query<KeptRow>(KEPT, [after]);
  const erased = rows.flatMap((row) => {
    const objectType = row.review_id === null ? 'token' : 'review';
    const plain = { ...row, object_type: objectType, object_id: 0n, actor_name: '', before: null };
    const entry = eraseTexts(toIdentifying({ ...plain, on_behalf_id: null, on_behalf_name: null }), id, identifiers);
    return entry ? [{ id: row.id, after: textOf(row.after, entry.after) }] : [];
  });
  if (erased.length > 0) await query(ERASE_KEPT, [erased.map((one) => one.id), erased.map((one) => one.after)]);
  return rows.length < PART ? undefined : rows.at(-1)?.id;
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
