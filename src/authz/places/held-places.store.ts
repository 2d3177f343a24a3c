import type { PlaceType } from '../../changes/object-kinds.ts';
import { type Db, sql } from '../../db/db.ts';
import type { RoleGrant } from '../escalation.ts';
import type { Ending, GiverStore } from './givers.ts';
import type { Gift, HeldPlaceStore } from './held-places.ts';

// Every path to a user ends with a team of theirs, or with something that is assigned to them or to such a team. A robot is
// in no team, and is the negative of its ID (principal.ts).
const ENDING = sql(
  'heldPlaces.ending',
  `with joined as (select m.team_id, m.expires_at from team_member m join team t on t.id = m.team_id
                    where m.account_id = $2 and t.organization_id = $1)
   select 'team:' || j.team_id as object, 'member' as relation, 'user:' || $2::bigint as user
     from joined j where j.expires_at < $3
   union all
   select case s.on_type when 'organization' then 'role:' || s.role_id else 'assignment:' || s.id end, 'assignee',
          s.to_type || ':' || s.to_id || case s.to_type when 'team' then '#member' else '' end
     from assignment s
    where s.organization_id = $1 and s.expires_at < $3
      and (s.user_id = $2 or s.robot_id = -$2 or s.team_id in (select team_id from joined) or s.to_team_id in (select team_id from joined))`,
);
// Of all users of an organization. Robots give nothing to users, and teams without members concern no user.
const ENDINGS = sql(
  'heldPlaces.endings',
  `select 'team:' || m.team_id as object, 'member' as relation, 'user:' || m.account_id as user, m.expires_at
     from team_member m join team t on t.id = m.team_id where t.organization_id = $1 and m.expires_at < $2
   union all
   select case s.on_type when 'organization' then 'role:' || s.role_id else 'assignment:' || s.id end, 'assignee',
          s.to_type || ':' || s.to_id || case s.to_type when 'team' then '#member' else '' end, s.expires_at
     from assignment s where s.organization_id = $1 and s.expires_at < $2 and s.to_type in ('user', 'team')
    order by 4`,
);
const GIFT = `select s.id, s.on_type, s.on_id, s.expires_at, s.namespaces,
     coalesce((select t.permission = 'owner' from team t where t.id = s.on_team_id), false) as is_owners,
     array(select p.namespace from role_permission p where p.role_id = s.role_id order by p.namespace, p.action) as areas,
     array(select p.action from role_permission p where p.role_id = s.role_id order by p.namespace, p.action) as actions,
     array(select p.relation from role_permission p where p.role_id = s.role_id order by p.namespace, p.action) as relations
     from assignment s`;
const OF_TEAM = sql('heldPlaces.ofTeam', `${GIFT} where s.to_team_id = $1 order by s.id`);
const OF_ROBOT = sql('heldPlaces.ofRobot', `${GIFT} where s.robot_id = $1 order by s.id`);
const SET = sql('heldPlaces.set', 'select id from cluster_set where organization_id = $1 and name = $2');
const OF_SET = sql('heldPlaces.ofSet', `${GIFT} where s.on_set_id = $1 order by s.id`);

interface GiftRow {
  id: bigint;
  on_type: PlaceType;
  on_id: bigint;
  expires_at: Date | null;
  is_owners: boolean;
  namespaces: string[] | null;
  areas: string[];
  actions: string[];
  relations: string[];
}

/** Later than every end that there can be. */
const NEVER = new Date('9999-12-31T23:59:59Z');

export function createHeldPlaceStore(db: Db): HeldPlaceStore & GiverStore {
  return {
    async endings(organizationId, before) {
      const rows = await db.query<Omit<Ending, 'expiresAt'> & { expires_at: Date }>(ENDINGS, [
        organizationId,
        before ?? NEVER,
      ]);
      return rows.map(({ expires_at: expiresAt, ...tuple }) => ({ ...tuple, expiresAt }));
    },

    async endingBefore(organizationId, personId, moment) {
      return await db.query<{ object: string; relation: string; user: string }>(ENDING, [
        organizationId,
        personId,
        moment ?? NEVER,
      ]);
    },

    async ofTeam(teamId) {
      return (await db.query<GiftRow>(OF_TEAM, [teamId])).map(toGift);
    },

    async ofRobot(robotId) {
      return (await db.query<GiftRow>(OF_ROBOT, [robotId])).map(toGift);
    },

    async ofSet(organizationId, name) {
      const [set] = await db.query<{ id: bigint }>(SET, [organizationId, name]);
      if (!set) return { id: undefined, gifts: [] };
      return { id: set.id, gifts: (await db.query<GiftRow>(OF_SET, [set.id])).map(toGift) };
    },
  };
}

function toGift(row: GiftRow): Gift {
  const grants = row.relations.map(
    (relation, place): RoleGrant => ({
      relation,
      namespace: row.areas[place] ?? '',
      action: row.actions[place] ?? '',
    }),
  );
  const place = { type: row.on_type, id: row.on_id, isOwners: row.is_owners, namespaces: row.namespaces };
  return { id: row.id, place, grants, until: row.expires_at };
}
