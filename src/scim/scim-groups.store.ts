import type { Actor } from '../changes/audit-entry.ts';
import type { Work } from '../changes/write.ts';
import { oneOff, only, type Query, sql } from '../db/db.ts';
import type { GroupMember, Joiner, ScimGroup, ScimGroupChanges, ScimGroupStore, Search } from './provisioning.ts';
import { type Columns, filterCondition, orderOf } from './scim-filter.store.ts';
import { wrong } from './scim-filter.ts';
import { USER_NAME } from './scim-user.rows.ts';

interface GroupRow {
  id: bigint;
  name: string;
  external_id: string | null;
  created_at: Date;
  updated_at: Date;
}

interface JoinerRow {
  id: bigint;
  login: string;
  user_name: string;
  is_suspended: boolean;
}

const UPDATED = 'greatest(t.created_at, g.updated_at)';
const SELECT = `select t.id, t.name, g.external_id, t.created_at, ${UPDATED} as updated_at`;
const TEAMS = 'team t left join scim_group g on g.team_id = t.id';
const HAS_MEMBER = `exists (select 1 from (select account_id from team_member where team_id = t.id
    union select account_id from scim_suspension where team_id = t.id) m where`;

const COLUMNS: Columns = {
  id: { sql: 't.id', type: 'id' },
  externalid: { sql: 'g.external_id', type: 'exact' },
  displayname: { sql: 't.name', type: 'text' },
  members: { exists: HAS_MEMBER, columns: { value: { sql: 'm.account_id', type: 'id' } } },
  'meta.created': { sql: 't.created_at', type: 'time' },
  'meta.lastmodified': { sql: UPDATED, type: 'time' },
  'meta.resourcetype': { sql: `'Group'::text`, type: 'text' },
};

const FIND = sql('scimGroups.find', `${SELECT} from ${TEAMS} where t.organization_id = $1 and t.id = $2`);
const SIZES = sql(
  'scimGroups.sizes',
  `select m.team_id, count(*)::integer as size from (
     select team_id, account_id from team_member where team_id = any ($1::bigint[])
     union select team_id, account_id from scim_suspension where team_id = any ($1::bigint[])) m group by m.team_id`,
);
const MEMBERS = sql(
  'scimGroups.members',
  `select a.id, ${USER_NAME} as user_name from (
     select m.account_id as id from ((select account_id from team_member where team_id = $2 and account_id > $3
        order by account_id limit $4) union (select account_id from scim_suspension where team_id = $2
        and account_id > $3 order by account_id limit $4)) m order by m.account_id limit $4) p
     join account a on a.id = p.id
     left join scim_user s on s.organization_id = $1 and s.account_id = a.id
     left join email e on e.account_id = a.id and e.is_primary order by a.id`,
);
// Users are locked before teams wherever both are locked, and all together in one order.
const JOINERS = sql(
  'scimGroups.joiners',
  `select a.id, a.name as login, ${USER_NAME} as user_name, coalesce(not s.active, false) as is_suspended
     from account a left join scim_user s on s.organization_id = $1 and s.account_id = a.id
          left join email e on e.account_id = a.id and e.is_primary
    where a.id = any ($2::bigint[]) and a.kind = 'user' and (s.account_id is not null or exists (
      select 1 from team_member m join team t on t.id = m.team_id
       where m.account_id = a.id and t.organization_id = $1))
    order by a.id for key share of a`,
);
const TURN = sql('scimGroups.turn', `select pg_advisory_xact_lock(hashtextextended('scim group', $1))`);
const SUSPEND = sql(
  'scimGroups.suspend',
  'insert into scim_suspension (team_id, account_id) values ($1, $2) on conflict do nothing',
);
const UNSUSPEND = sql(
  'scimGroups.unsuspend',
  'delete from scim_suspension where team_id = $1 and account_id = $2 returning team_id',
);
const SET_EXTERNAL_ID = sql(
  'scimGroups.setExternalId',
  `insert into scim_group (team_id, external_id) values ($1, $2)
   on conflict (team_id) do update set external_id = excluded.external_id, updated_at = now()`,
);

export function createScimGroupStore(query: Query): ScimGroupStore {
  return { list, sizes, ...readers(query) };

  async function list(organizationId: bigint, { filter, sortBy, isDescending, offset, limit }: Search) {
    const values: unknown[] = [organizationId];
    const place = (value: unknown) => `$${values.push(value)}`;
    const condition = filter ? ` and ${filterCondition(filter, COLUMNS, place)}` : '';
    const from = `from ${TEAMS} where t.organization_id = $1${condition}`;
    const count = oneOff('scimGroups.count', `select count(*)::integer as total ${from}`);
    const { total } = only(await query<{ total: number }>(count, values));
    const order = sortBy && orderOf(sortBy, COLUMNS);
    if (sortBy && order === undefined) throw wrong('groups cannot be sorted by this attribute');
    const direction = isDescending ? 'desc nulls first' : 'asc nulls last';
    const sorted = order === undefined ? 't.id' : `${order} ${direction}, t.id`;
    const text = `${SELECT} ${from} order by ${sorted} offset ${place(offset)} limit ${place(limit)}`;
    const rows = limit === 0 ? [] : await query<GroupRow>(oneOff('scimGroups.list', text), values);
    return { total, items: rows.map(toGroup) };
  }

  async function sizes(ids: readonly bigint[]) {
    const rows = await query<{ team_id: bigint; size: number }>(SIZES, [ids]);
    return new Map(rows.map(({ team_id, size }) => [team_id, size]));
  }
}

type Inside = {
  readonly query: Query;
  readonly record: Parameters<Work<void>>[2];
  readonly touch: Parameters<Work<void>>[1];
};

export function createScimGroupChanges({ query, record, touch }: Inside): ScimGroupChanges {
  return {
    ...readers(query),

    async turn(id) {
      await query(TURN, [id]);
    },

    async joiners(organizationId, ids): Promise<Joiner[]> {
      const rows = await query<JoinerRow>(JOINERS, [organizationId, ids]);
      return rows.map((row) => ({
        ...{ id: row.id, login: row.login },
        ...{ userName: row.user_name, isSuspended: row.is_suspended },
      }));
    },

    async suspend(teamId, accountId) {
      await query(SUSPEND, [teamId, accountId]);
    },

    async unsuspend(teamId, accountId) {
      return (await query(UNSUSPEND, [teamId, accountId])).length > 0;
    },

    async setExternalId(group: ScimGroup, organizationId: bigint, externalId: string | null, actor: Actor) {
      await query(SET_EXTERNAL_ID, [group.id, externalId]);
      touch({ kind: 'team', id: group.id, organizationId });
      const about = { organizationId, action: 'team.provision', objectType: 'team', objectId: group.id } as const;
      const states = { before: { externalId: group.externalId }, after: { externalId } };
      record({ actor, ...about, ...states });
    },
  };
}

function readers(query: Query): Pick<ScimGroupStore, 'find' | 'members'> {
  return {
    async find(organizationId, id) {
      const [row] = await query<GroupRow>(FIND, [organizationId, id]);
      return row && toGroup(row);
    },

    async members(organizationId, id, afterId, limit): Promise<GroupMember[]> {
      const values = [organizationId, id, afterId, limit];
      const rows = await query<{ id: bigint; user_name: string }>(MEMBERS, values);
      return rows.map((row) => ({ id: row.id, userName: row.user_name }));
    },
  };
}

function toGroup({ id, name, external_id, created_at, updated_at }: GroupRow): ScimGroup {
  return { id, displayName: name, externalId: external_id, createdAt: created_at, updatedAt: updated_at };
}
