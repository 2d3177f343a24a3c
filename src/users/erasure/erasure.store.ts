import { yieldToEventLoop } from '../../base/scheduling/slices.ts';
import type { Actor, AuditEntry } from '../../changes/audit-entry.ts';
import { UNKNOWN } from '../../changes/personal-texts.ts';
import { PLATFORM, type Write } from '../../changes/write.ts';
import { deleteInBatches } from '../../db/batched-delete.ts';
import { type Db, only, type Query, sql } from '../../db/db.ts';
import { MAX_COUNTED } from '../../db/search-text.ts';
import type { ErasedIdentity, Fingerprint } from './erased-identifiers.ts';
import type { ErasureStore, LegalHold } from './erasure.ts';
import { eraseKeptEntries, erasePlainEntries, plainIdentifiers } from './plain-entries.store.ts';

// An erasure and a hold of the same person wait for each other, and for archived entries that are put back.
const SHARE = sql('erasure.share', `select pg_advisory_xact_lock_shared(hashtextextended('erasure', 0))`);
const TURN = sql('erasure.turn', `select pg_advisory_xact_lock(hashtextextended('erasure', $1))`);
const IS_HELD = sql('erasure.isHeld', 'select 1 from legal_hold where account_id = $1');
const NAMED = sql('erasure.named', `select id from account where name_key = lower($1) and kind = 'user'`);
const NAME = sql('erasure.name', `select name from account where id = $1 and kind = 'user'`);
// A user who was deleted is known by the entry about it, or, if that is archived, by texts that entries have about them.
const KNOWN = sql(
  'erasure.known',
  `select coalesce((select name from account where id = $1 and kind = 'user'), '') as name
    where not exists (select 1 from erasure where account_id = $1)
      and (exists (select 1 from account where id = $1 and kind = 'user')
        or exists (select 1 from audit where object_type = 'user' and object_id = $1)
        or exists (select 1 from audit_text where account_id = $1))`,
);
const ERASE = sql(
  'erasure.erase',
  'insert into erasure (account_id, identifiers) values ($1, $2) on conflict do nothing',
);
// What names a person without their ID: addresses and names that they have or had, and long texts that they wrote.
const IDENTIFIERS = sql(
  'erasure.identifiers',
  `select lower(name) as text from account where id = $1
    union select lower(address) from email where account_id = $1
    union select lower(name) from reserved_name where account_id = $1
    union select lower(text) from audit_text where account_id = $1 and (text like '%_@_%' or length(text) >= 20)`,
);
const CLAIM = sql(
  'erasure.claim',
  `update audit_text set account_id = $1 where account_id = ${UNKNOWN} and lower(text) = any($2::text[])`,
);
// No later account inherits files, rules or mappings that have the name.
const RESERVE = sql(
  'erasure.reserve',
  `insert into reserved_name (name_key, name, account_id, kind) select lower(name), name, id, 'user' from account where id = $1
   on conflict do nothing`,
);
const ERASED_AFTER = sql(
  'erasure.erasedAfter',
  'select account_id, erased_at from erasure where erased_at > $1 order by erased_at, account_id',
);
const UNFINISHED = sql(
  'erasure.unfinished',
  `select account_id as id, coalesce(identifiers, '{}') as identifiers from erasure
    where finished_at is null or plain_id < (select last_id from audit_plain) order by account_id limit 1000`,
);
const FORGET = sql(
  'erasure.forget',
  `update audit_text set salt = null, text = null where (organization_id, commitment) in (
     select organization_id, commitment from audit_text where account_id = $1 and text is not null limit $2)
   returning 1`,
);
const HAS_PLAIN_ARCHIVE = 'exists (select 1 from audit_segment where first_id <= (select last_id from audit_plain))';
// Only archived entries of earlier releases can bring back what is known by its text, so only then fingerprints stay.
const FINISH = sql(
  'erasure.finish',
  `update erasure set finished_at = now(), identifiers = case when ${HAS_PLAIN_ARCHIVE} then $2::text[] end,
          plain_id = greatest(plain_id, (select last_id from audit_plain))
    where account_id = $1 and plain_id >= coalesce(
      (select max(id) from audit where id <= (select last_id from audit_plain)), 0)
      and ($2::text[] is not null or not ${HAS_PLAIN_ARCHIVE}) returning 1`,
);
const FORGET_FINGERPRINTS = sql(
  'erasure.forgetFingerprints',
  `update erasure set identifiers = null
    where identifiers is not null and finished_at is not null and not ${HAS_PLAIN_ARCHIVE}`,
);

const COLUMNS = 'h.account_id, a.name, h.reason, h.created_by_id, h.created_at';
const HOLD = sql(
  'legalHolds.hold',
  `with h as (
     insert into legal_hold (account_id, reason, created_by_id) values ($1, $2, $3)
     on conflict (account_id) do update set reason = excluded.reason returning *)
   select ${COLUMNS} from h left join account a on a.id = h.account_id`,
);
const RELEASE = sql('legalHolds.release', 'delete from legal_hold where account_id = $1 returning reason');
const LIST = sql(
  'legalHolds.list',
  `select ${COLUMNS} from legal_hold h left join account a on a.id = h.account_id
    order by h.account_id offset $1 limit $2`,
);
const COUNT = sql(
  'legalHolds.count',
  `select count(*)::integer as total from (select 1 from legal_hold limit ${MAX_COUNTED + 1}) held`,
);

interface Row {
  account_id: bigint;
  name: string | null;
  reason: string;
  created_by_id: bigint;
  created_at: Date;
}

interface Transaction {
  readonly query: Query;
  readonly record: (entry: AuditEntry) => void;
}

/** A part of the transaction that deletes the account, before it does. False if there is a legal hold. */
export async function eraseInLog({ query, record }: Transaction, id: bigint, actor: Actor): Promise<boolean> {
  await query(SHARE);
  await query(TURN, [id]);
  if ((await query(IS_HELD, [id])).length > 0) return false;
  const rows = await query<{ text: string }>(IDENTIFIERS, [id]);
  const identifiers = [...new Set([...rows.map(({ text }) => text), ...(await plainIdentifiers(query, id))])];
  await query(RESERVE, [id]);
  await query(ERASE, [id, identifiers]);
  await query(CLAIM, [id, identifiers]);
  record({ actor, organizationId: PLATFORM, action: 'user.erase', objectType: 'user', objectId: id });
  return true;
}

/**
 * Removes the texts of all people who are erased. Goes on where another process, or an earlier one, has stopped. Without
 * fingerprints, a server finishes the erasures that need them. False if people are left for another run.
 */
export async function finishErasures(
  { query }: Pick<Db, 'query'>,
  write: Write,
  fingerprint?: Fingerprint,
): Promise<boolean> {
  for (;;) {
    const people = await query<ErasedIdentity>(UNFINISHED);
    for (const { id } of people) {
      await deleteInBatches(query, FORGET, [id]);
      await yieldToEventLoop();
    }
    if (people.length > 0) {
      await erasePlainEntries(query, write, fingerprint);
      await eraseKeptEntries(write, people, fingerprint);
    }
    let finished = 0;
    for (const { id, identifiers } of people) {
      finished += (await query(FINISH, [id, fingerprint ? identifiers.map(fingerprint) : null])).length;
    }
    if (finished > 0) continue;
    await query(FORGET_FINGERPRINTS);
    return people.length === 0;
  }
}

export function createErasureStore(db: Pick<Db, 'query'>, write: Write, fingerprint?: Fingerprint): ErasureStore {
  return {
    async userNamed(name) {
      return (await db.query<{ id: bigint }>(NAMED, [name]))[0]?.id;
    },
    async nameOf(id) {
      return (await db.query<{ name: string }>(NAME, [id]))[0]?.name;
    },
    eraseDeleted: (id, actor) =>
      write(async (query, _touch, record) => {
        const [known] = await query<{ name: string }>(KNOWN, [id]);
        if (!known) return undefined;
        return (await eraseInLog({ query, record }, id, actor)) ? 'done' : 'held';
      }),
    finish: () => finishErasures(db, write, fingerprint),
    async erasedAfter(moment) {
      const rows = await db.query<{ account_id: bigint; erased_at: Date }>(ERASED_AFTER, [moment]);
      return rows.map((row) => ({ accountId: row.account_id, erasedAt: row.erased_at }));
    },
    hold: (id, reason, actor) =>
      write(async (query, _touch, record) => {
        await query(TURN, [id]);
        if ((await query(KNOWN, [id])).length === 0) return undefined;
        const hold = toHold(only(await query<Row>(HOLD, [id, reason, (actor.sudoBy ?? actor).id])));
        record({ ...about(actor, id), action: 'user.hold', after: { reason } });
        return hold;
      }),
    release: (id, actor) =>
      write(async (query, _touch, record) => {
        const [gone] = await query<{ reason: string }>(RELEASE, [id]);
        if (gone) record({ ...about(actor, id), action: 'user.release', before: { reason: gone.reason } });
        return gone !== undefined;
      }),
    async holds({ offset, limit }) {
      const { total } = only(await db.query<{ total: number }>(COUNT));
      const items = (await db.query<Row>(LIST, [offset, limit])).map(toHold);
      return { items, total, isBounded: total > MAX_COUNTED };
    },
  };
}

function about(actor: Actor, id: bigint) {
  return { actor, organizationId: PLATFORM, objectType: 'user', objectId: id } as const;
}

function toHold(row: Row): LegalHold {
  return {
    ...{ accountId: row.account_id, username: row.name ?? '', reason: row.reason },
    ...{ createdById: row.created_by_id, createdAt: row.created_at },
  };
}
