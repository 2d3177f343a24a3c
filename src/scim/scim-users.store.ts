import { oneOff, only, type Query, sql } from '../db/db.ts';
import type { GroupName, ScimUser, ScimUserStore, Search } from './provisioning.ts';
import { type AddParameter, filterCondition, orderOf } from './scim-filter.store.ts';
import { type Filter, wrong } from './scim-filter.ts';
import { AMONG, COLUMNS, findUser, PEOPLE, SELECT, toUser, type UserRow } from './scim-user.rows.ts';

const FIND_SOME = sql('scimUsers.findSome', `${SELECT} from ${AMONG} and a.id = any ($2::bigint[])`);
const GROUPS = sql(
  'scimUsers.groups',
  `select g.account_id, t.id, t.name from team t join (
     select team_id, account_id from team_member where account_id = any ($2::bigint[])
     union select team_id, account_id from scim_suspension where account_id = any ($2::bigint[])) g on g.team_id = t.id
    where t.organization_id = $1 order by g.account_id, t.id`,
);
/** As many people the built-in database looks at in one statement: other requests wait for its only connection. */
const SLICE = 2000;
// Members, and those whom the provider has said something about, in the order of their IDs.
const IDS = sql(
  'scimUsers.ids',
  `select array(select m.account_id from team t join team_member m on m.team_id = t.id where t.organization_id = $1
     union select l.account_id from scim_user l where l.organization_id = $1 order by 1) as ids`,
);

/** @param isSliced looks through all users in slices */
export function createScimUserStore(query: Query, isSliced: boolean): ScimUserStore {
  return { list, find: (organizationId, id) => findUser(query, organizationId, id), groups };

  async function list(organizationId: bigint, { filter, sortBy, isDescending, offset, limit }: Search) {
    const order = sortBy && orderOf(sortBy, COLUMNS);
    if (sortBy && order === undefined) throw wrong('users cannot be sorted by this attribute');
    const values: unknown[] = [organizationId];
    const place = (value: unknown) => `$${values.push(value)}`;
    const few = filter && fewOf(filter, place);
    const condition = filter ? ` and ${filterCondition(filter, COLUMNS, place)}` : '';
    if (few === undefined && isSliced) {
      const found = await idsInSlices(condition, values, order);
      const ids = sortedIds(found, isDescending).slice(offset, offset + limit);
      return { total: found.length, items: await someOf(organizationId, ids) };
    }
    const from = `from ${few === undefined ? PEOPLE : `${AMONG} and a.id in (${few})`}${condition}`;
    const count = oneOff('scimUsers.count', `select count(*)::integer as total ${from}`);
    const { total } = only(await query<{ total: number }>(count, values));
    const sorted =
      order === undefined ? 'a.id' : `${order} ${isDescending ? 'desc nulls first' : 'asc nulls last'}, a.id`;
    const text = `${SELECT} ${from} order by ${sorted} offset ${place(offset)} limit ${place(limit)}`;
    const rows = limit === 0 ? [] : await query<UserRow>(oneOff('scimUsers.list', text), values);
    return { total, items: rows.map(toUser) };
  }

  async function idsInSlices(condition: string, values: readonly unknown[], order: string | undefined) {
    const text = `select a.id, ${order ?? 'null'} as key from ${AMONG} and a.id = any ($${values.length + 1}::bigint[])${condition}
      order by a.id`;
    const { ids } = only(await query<{ ids: bigint[] }>(IDS, [values[0]]));
    const found: Keyed[] = [];
    for (let first = 0; first < ids.length; first += SLICE) {
      const some = ids.slice(first, first + SLICE);
      found.push(...(await query<Keyed>(oneOff('scimUsers.slice', text), [...values, some])));
    }
    return found;
  }

  async function someOf(organizationId: bigint, ids: readonly bigint[]): Promise<ScimUser[]> {
    const rows = ids.length === 0 ? [] : await query<UserRow>(FIND_SOME, [organizationId, ids]);
    const users = new Map(rows.map((row) => [row.id, toUser(row)]));
    return ids.flatMap((id) => users.get(id) ?? []);
  }

  async function groups(organizationId: bigint, ids: readonly bigint[]) {
    const rows = await query<{ account_id: bigint; id: bigint; name: string }>(GROUPS, [organizationId, ids]);
    const found = new Map<bigint, GroupName[]>(ids.map((id) => [id, []]));
    for (const { account_id, id, name } of rows) found.get(account_id)?.push({ id, name });
    return found;
  }
}

interface Keyed {
  id: bigint;
  key: string | boolean | Date | bigint | null;
}

/** Users without a value are last, and first in the opposite order. */
function sortedIds(found: readonly Keyed[], isDescending: boolean): bigint[] {
  const sorted = found.toSorted((one, other) => {
    if (one.key === null || other.key === null) return Number(one.key === null) - Number(other.key === null);
    return one.key < other.key ? -1 : one.key > other.key ? 1 : 0;
  });
  const ids = sorted.map(({ id }) => id);
  return isDescending ? ids.reverse() : ids;
}

/** The IDs of the few accounts that a filter can be about, if it says that: what providers ask about each person. */
function fewOf(filter: Filter, place: AddParameter): string | undefined {
  if (filter.kind === 'and') return filter.of.map((one) => fewOf(one, place)).find((one) => one !== undefined);
  if (filter.kind !== 'compare' || filter.op !== 'eq' || typeof filter.value !== 'string') return undefined;
  const { name, sub } = filter.path;
  const value = filter.value;
  if (name === 'id' && sub === undefined) {
    return `select n.id from account n where n.id = ${place(idOf(value))}::bigint`;
  }
  if (name === 'externalid' && sub === undefined) {
    return `select n.account_id from scim_user n where n.organization_id = $1 and n.external_id = ${place(value)}::text`;
  }
  const isAddress = name === 'emails' && (sub === undefined || sub === 'value');
  if (!isAddress && !(name === 'username' && sub === undefined)) return undefined;
  const key = `lower(${place(value)}::text)`;
  const known = isAddress ? 'lower(n.email)' : 'n.user_name_key';
  return `select n.account_id from scim_user n where n.organization_id = $1 and ${known} = ${key}
          union select n.account_id from email n where n.address_key = ${key}
          union select n.id from account n where n.name_key = ${key}`;
}

/** What cannot be an ID is the ID of no user. */
function idOf(text: string): bigint {
  return /^\d{1,18}$/.test(text) ? BigInt(text) : 0n;
}
