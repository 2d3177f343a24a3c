import { type Query, sql, type TransactionQuery } from '../db/db.ts';
import { commitmentsIn, type KnownText, type KnownTexts, type PersonalText } from './personal-texts.ts';

// Nothing new is kept about a person who has been erased.
const KEEP = sql(
  'personalTexts.keep',
  `insert into audit_text (organization_id, commitment, account_id, salt, text)
   select t.organization_id, t.commitment, t.account_id, case when e.account_id is null then t.salt end,
          case when e.account_id is null then t.text end
     from unnest($1::bigint[], $2::bytea[], $3::bigint[], $4::bytea[], $5::text[])
            as t (organization_id, commitment, account_id, salt, text)
     left join erasure e on e.account_id = t.account_id`,
);
// One probe of the index for each: as a plain join, hundreds of them are planned as a search through the whole table.
// Of a person who is erased, rows that are not cleared yet are not shown either.
const FIND = sql(
  'personalTexts.find',
  `select t.organization_id, encode(t.commitment, 'hex') as hash, t.account_id,
          case when e.account_id is null then t.salt end as salt, case when e.account_id is null then t.text end as text
     from unnest($1::bigint[], $2::text[]) as w (organization_id, hash)
     cross join lateral (
       select * from audit_text where organization_id = w.organization_id and commitment = decode(w.hash, 'hex') limit 1) t
     left join erasure e on e.account_id = t.account_id`,
);
const NOTHING: KnownTexts = new Map();

export function keepTexts(query: TransactionQuery, texts: readonly PersonalText[]): void {
  if (texts.length === 0) return;
  query.later(KEEP, [
    texts.map((one) => one.organizationId),
    texts.map((one) => one.commitment),
    texts.map((one) => one.accountId),
    texts.map((one) => one.salt),
    texts.map((one) => one.text),
  ]);
}

/** Where hashes of personal texts may be: elements of an entry of one chain. */
export interface Holding {
  readonly organizationId: bigint;
  readonly elements: readonly (string | null)[];
}

/** What the hashes in these entries stand for, by chain. One statement, and none if there are no hashes. */
export async function textsIn(query: Query, held: readonly Holding[]): Promise<(organizationId: bigint) => KnownTexts> {
  const wanted = new Map<string, readonly [organizationId: bigint, hash: string]>();
  for (const { organizationId, elements } of held) {
    for (const hash of elements.flatMap(commitmentsIn)) wanted.set(`${organizationId} ${hash}`, [organizationId, hash]);
  }
  if (wanted.size === 0) return () => NOTHING;
  const pairs = [...wanted.values()];
  const rows = await query<
    { organization_id: bigint; hash: string; account_id: bigint } & Omit<KnownText, 'accountId'>
  >(FIND, [pairs.map(([organizationId]) => organizationId), pairs.map(([, hash]) => hash)]);
  const found = new Map<bigint, Map<string, KnownText>>();
  for (const { organization_id: organizationId, hash, account_id: accountId, salt, text } of rows) {
    const ofChain = found.get(organizationId) ?? new Map<string, KnownText>();
    found.set(organizationId, ofChain.set(hash, { accountId, salt, text }));
  }
  return (organizationId) => found.get(organizationId) ?? NOTHING;
}
