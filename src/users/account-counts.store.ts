import { only, type Query, type Statement, sql } from '../db/db.ts';

/** What is counted: `able` are users who can sign in. */
const COUNTED = { users: 'users', able: 'users - barred', organizations: 'organizations' } as const;
export type Counted = keyof typeof COUNTED;

/** Accounts that are neither scanned nor counted to find a page of them. */
export interface PageStart {
  readonly total: number;
  /** The page begins after this many accounts from this ID on. Undefined if it is past the end. */
  readonly firstId: bigint | undefined;
  readonly skip: bigint;
}

interface Row {
  total: bigint;
  first_id: bigint | null;
  skip: bigint | null;
}

// Triggers keep the counts, see `account_count` in the schema. Blocks without any are left out, so that IDs may have gaps.
const START = Object.fromEntries(
  Object.entries(COUNTED).map(([what, count]) => [
    what,
    sql(
      `accountCounts.${what}`,
      `with block as materialized (
         select block, sum(${count})::bigint as count from account_count group by block having sum(${count}) <> 0
       ), running as (
         select block, count, (sum(count) over (order by block))::bigint - count as before from block
       )
       select coalesce((select sum(count) from block), 0)::bigint as total, s.block * 1000 as first_id,
              $1::bigint - s.before as skip
         from (values (1)) as always left join (
           select block, before from running where before <= $1::bigint and before + count > $1::bigint limit 1
         ) s on true`,
    ),
  ]),
) as Readonly<Record<Counted, Statement>>;

// Rows that another process adds up at the same moment are left to it.
const ADD_UP = sql(
  'accountCounts.addUp',
  `with gone as (
     delete from account_count where id in (
       select id from account_count where block in (
         select block from account_count group by block having count(*) > 1 limit 1000)
       for update skip locked)
     returning block, users, barred, organizations)
   insert into account_count (block, users, barred, organizations)
   select block, sum(users), sum(barred), sum(organizations) from gone group by block
   having sum(users) <> 0 or sum(barred) <> 0 or sum(organizations) <> 0`,
);

/** How many there are, and where the page begins, in the order of their IDs. */
export async function startOfPage(query: Query, what: Counted, offset: number): Promise<PageStart> {
  const { total, first_id, skip } = only(await query<Row>(START[what], [offset]));
  return { total: Number(total), firstId: first_id ?? undefined, skip: skip ?? 0n };
}

/** Keeps the list of counts short. Changes nothing that can be seen. */
export async function addUpCounts(query: Query): Promise<void> {
  await query(ADD_UP);
}
