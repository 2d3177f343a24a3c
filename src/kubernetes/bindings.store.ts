import { isRobotPrincipal, principalOfRobot } from '../changes/principal.ts';
import { type Db, sql } from '../db/db.ts';
import type { BindingStore } from './bindings.ts';

const ENDING = sql(
  'bindings.ending',
  `select 'team:' || m.team_id as object, 'member' as relation, 'user:' || m.account_id as user, m.expires_at
     from team_member m join team t on t.id = m.team_id
    where t.organization_id = $1 and m.expires_at is not null
   union all
   select case when s.on_type = 'organization' then 'role:' || s.role_id else 'assignment:' || s.id end, 'assignee',
          s.to_type || ':' || s.to_id || case s.to_type when 'team' then '#member' else '' end, s.expires_at
     from assignment s where s.organization_id = $1 and s.expires_at is not null
   order by expires_at`,
);
const LOGINS = sql(
  'bindings.logins',
  'select id, name from account where id = any($1::bigint[]) and active and not prohibit_login',
);
const EMAILS = sql(
  'bindings.emails',
  `select a.id, e.address as name from account a join email e on e.account_id = a.id and e.is_primary and e.verified
    where a.id = any($1::bigint[]) and a.active and not a.prohibit_login`,
);
const ROBOTS = sql(
  'bindings.robots',
  `select b.id, a.name || '/' || b.name as name from robot b join account a on a.id = b.owner_id
    where b.id = any($1::bigint[]) and a.active and not a.prohibit_login`,
);

interface EndingRow {
  object: string;
  relation: string;
  user: string;
  expires_at: Date;
}

interface NameRow {
  id: bigint;
  name: string;
}

export function createBindingStore(db: Db): BindingStore {
  return {
    async ending(organizationId) {
      const rows = await db.query<EndingRow>(ENDING, [organizationId]);
      return rows.map(({ object, relation, user, expires_at: endsAt }) => ({ object, relation, user, endsAt }));
    },

    async usernames(ids, username) {
      const users = ids.filter((id) => !isRobotPrincipal(id));
      const names = await db.query<NameRow>(username === 'email' ? EMAILS : LOGINS, [users]);
      // Robots have no address.
      const robotIds = username === 'email' ? [] : ids.filter(isRobotPrincipal).map((id) => -id);
      const robots = robotIds.length === 0 ? [] : await db.query<NameRow>(ROBOTS, [robotIds]);
      return new Map([
        ...names.map(({ id, name }) => [id, name] as const),
        ...robots.map(({ id, name }) => [principalOfRobot(id), name] as const),
      ]);
    },
  };
}
