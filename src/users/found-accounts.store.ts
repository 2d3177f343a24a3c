import type { PageRequest } from '../base/page.ts';
import { only, type Query, sql } from '../db/db.ts';
import { MAX_COUNTED, searchText } from '../db/search-text.ts';

export interface FoundIds {
  readonly ids: readonly bigint[];
  /** Exact up to `MAX_COUNTED`. One more means that there are more, and then it is bounded. */
  readonly total: number;
  readonly isBounded: boolean;
}

export interface AccountSearch {
  readonly kind: 'user' | 'organization';
  /** Part of the names of the statements. */
  readonly name: string;
  /** A condition on the account `a`. */
  readonly where: string;
  /** Whether addresses are searched, too. */
  readonly hasEmails: boolean;
  /** Whether an index contains the few accounts of the condition: then they are all compared with the text. */
  readonly isFew?: boolean;
}

export type FindAccounts = (query: Query, text: string, request: PageRequest) => Promise<FoundIds>;

const NAMED = '(a.name_key like $1 or lower(a.full_name) like $1)';
// Not as a join, and looked up for each account: the planner would read all addresses before the first account.
const ADDRESSED = 'exists (select 1 from email s where s.account_id = a.id and s.address_key like $1 offset 0)';

/** If a quarter of these contain the text, it is tried to find `MAX_COUNTED` hits among the first accounts. */
const SAMPLE = 400;
const MAX_WALKED = 60_000;

/**
 * Pages of accounts whose names contain a text, in the order of their IDs. What few accounts contain is found by the
 * index of pieces, and sorted. What more than `MAX_COUNTED` contain is found by walking along the IDs, because there
 * are hits everywhere. Neither cost depends on the number of accounts.
 */
export function findAccounts({ kind, name, where, hasEmails, isFew = false }: AccountSearch): FindAccounts {
  const among = `a.kind = '${kind}' and ${where}`;
  const maxHits = MAX_COUNTED + 1;
  const byName = `(select a.id from account a where ${among} and ${NAMED}
      and search_pieces(a.name_key || ' ' || lower(a.full_name)) @@ $2::tsquery limit ${maxHits})`;
  const byAddress = `(select a.id from email s join account a on a.id = s.account_id
      where s.address_key like $1 and search_pieces(s.address_key) @@ $2::tsquery and ${among} limit ${maxHits})`;
  const known = hasEmails ? `(${NAMED} or ${ADDRESSED})` : NAMED;
  const byPieces = hasEmails ? `${byName} union ${byAddress}` : byName;
  const hits = isFew ? `select a.id from account a where ${among} and ${known} limit ${maxHits}` : byPieces;
  const few = sql(
    `${name}.few`,
    `with hit as materialized (${hits})
     select (select count(*)::integer from hit) as total,
            array(select id from hit order by id offset $3 limit $4) as ids where $2::tsquery is not null`,
  );
  // The index would list all accounts first. Only what is asked for in a `case` is computed.
  const hitsAmong = (accounts: number) => `(select count(*)::integer from (select 1 from (
      select a.id, a.name_key, a.full_name from account a where ${among} order by a.id limit ${accounts}
    ) a where ${known} limit ${maxHits}) hit)`;
  const common = sql(
    `${name}.common`,
    `select case when ${hitsAmong(SAMPLE)} > ${SAMPLE / 4} then ${hitsAmong(MAX_WALKED)} else 0 end as hits`,
  );
  const many = sql(
    `${name}.many`,
    `select array(select a.id from account a where ${among} and ${known} order by a.id offset $2 limit $3) as ids`,
  );
  return async (query, text, { offset, limit }) => {
    const { contains, pieces } = searchText(text);
    if (isFew || only(await query<{ hits: number }>(common, [contains])).hits <= MAX_COUNTED) {
      const found = only(await query<{ total: number; ids: bigint[] }>(few, [contains, pieces, offset, limit]));
      if (found.total <= MAX_COUNTED) return { ...found, isBounded: false };
    }
    const { ids } = only(await query<{ ids: bigint[] }>(many, [contains, offset, limit]));
    return { ids, total: maxHits, isBounded: true };
  };
}

/** Counts the accounts of an index that has few of them. Like those above, it does not count without end. */
export function countAccounts(name: string, where: string) {
  const statement = sql(
    name,
    `select count(*)::integer as total from (select 1 from account a where ${where} limit ${MAX_COUNTED + 1}) hit`,
  );
  return async (query: Query): Promise<Pick<FoundIds, 'total' | 'isBounded'>> => {
    const { total } = only(await query<{ total: number }>(statement));
    return { total, isBounded: total > MAX_COUNTED };
  };
}
