import { type Db, only, type Statement, sql } from '../db/db.ts';
import type { Memberships } from './memberships.ts';
import { ORGANIZATION, type OrganizationRow, TEAM, type TeamRow, toOrganization, toTeam } from './organization.rows.ts';

// A user can be in ten thousand. So their IDs are read first, as one value, and then what is shown, a few at a time:
// every request waits for the only connection of the built-in database.

// Sorted by bytes, which gives the same order in every database, whatever its locale.
const TEAM_IDS = sql(
  'memberships.teamIds',
  `select array(
     select t.id from team_member m join team t on t.id = m.team_id join account o on o.id = t.organization_id
      where m.account_id = $1 and ($2::bigint[] is null or t.organization_id = any($2) or t.id = any($3::bigint[]))
      order by o.name_key collate "C", t.permission <> 'owner', t.name_key collate "C") as ids`,
);
const TEAMS = sql(
  'memberships.teams',
  `select ${TEAM} from team t join account o on o.id = t.organization_id where t.id = any($1::bigint[])`,
);
const ORGANIZATION_IDS = sql(
  'memberships.organizationIds',
  `select array(select distinct t.organization_id from team t join team_member m on m.team_id = t.id
                 where m.account_id = $1 order by t.organization_id) as ids`,
);
const ORGANIZATIONS = sql(
  'memberships.organizations',
  `select ${ORGANIZATION} from account o where o.id = any($1::bigint[])`,
);
const AT_ONCE = 1000;

export function createMembershipStore(db: Db): Memberships {
  return {
    async teams(accountId, among, request) {
      const ids = await idsOf(TEAM_IDS, [accountId, among?.organizationIds, among?.teamIds]);
      const shown = request ? ids.slice(request.offset, request.offset + request.limit) : ids;
      const items = await readAll(shown, TEAMS, toTeam, (row: TeamRow) => row.id);
      return { items, total: request ? ids.length : items.length };
    },

    async organizations(accountId) {
      const ids = await idsOf(ORGANIZATION_IDS, [accountId]);
      return await readAll(ids, ORGANIZATIONS, toOrganization, (row: OrganizationRow) => row.organization_id);
    },
  };

  async function idsOf(statement: Statement, values: readonly unknown[]): Promise<bigint[]> {
    return only(await db.query<{ ids: bigint[] }>(statement, values)).ids;
  }

  /** In the order of the IDs. What was deleted meanwhile is left out. */
  async function readAll<Row extends object, T>(
    ids: readonly bigint[],
    statement: Statement,
    toItem: (row: Row) => T,
    idOf: (row: Row) => bigint,
  ): Promise<T[]> {
    const items = new Map<bigint, T>();
    for (let first = 0; first < ids.length; first += AT_ONCE) {
      const rows = await db.query<Row>(statement, [ids.slice(first, first + AT_ONCE)]);
      for (const row of rows) items.set(idOf(row), toItem(row));
    }
    return ids.flatMap((id) => items.get(id) ?? []);
  }
}
