import type pg from 'pg';
import { fillOrganization } from '../user-lists/fill.ts';

export interface Filled {
  readonly role: number;
  readonly tuples: number;
  /** A cluster that the member sees, and one that they do not. */
  readonly seen: number;
  readonly unseen: number;
}

const MEMBERS = 500;

/**
 * Rows as the server would write them. `member` and 500 others are in a team without any permission. The member has a
 * role on `own` clusters, and the others have one on all of them in turn.
 */
export async function fillAssignments(
  client: pg.Client,
  organization: string,
  member: string,
  { clusters, assignments, own }: { readonly clusters: number; readonly assignments: number; readonly own: number },
): Promise<Filled> {
  const query = async (text: string, values: readonly unknown[] = []) => (await client.query(text, [...values])).rows;
  await fillOrganization(client, organization, clusters);
  const [{ id: org }] = await query('select id from account where name = $1', [organization]);
  const [{ id: team }] = await query(
    `insert into team (organization_id, name, permission, type) values ($1, 'assigned', 'none', 'custom') returning id`,
    [org],
  );
  await query(
    `with made as (insert into account (kind, name) select 'user', 'assigned' || n from generate_series(1, ${MEMBERS}) n returning id)
     insert into team_member (team_id, account_id) select $1, id from made`,
    [team],
  );
  await query('insert into team_member (team_id, account_id) select $1, id from account where name = $2', [
    team,
    member,
  ]);
  const roles = await query(
    `insert into role (organization_id, name, name_key)
     select $1, 'assigned ' || n, 'assigned ' || n from generate_series(1, 20) n returning id`,
    [org],
  );
  await query(
    `insert into role_permission (role_id, namespace, action, relation)
     select r.id, 'cluster_mgmt', p.action, p.relation from unnest($1::bigint[]) r (id),
       (values ('view clusters', 'can_view_clusters'), ('connect to clusters', 'can_connect_clusters')) p (action, relation)`,
    [roles.map(({ id }) => id)],
  );
  const [{ id: role }] = roles;
  await query(`create temporary table target as
    select id, row_number() over (order by id) - 1 as n from cluster where owner_id = ${org} and name like 'many%'`);
  // Spread over all clusters, not the first ones.
  await query(
    `insert into assignment (role_id, organization_id, user_id, on_cluster_id, created_by_type, created_by_id)
     select $1, $2, a.id, t.id, 'user', a.id from account a, target t
      where a.name = $3 and t.n % $4 = 0 and t.n < $4 * $5`,
    [role, org, member, Math.max(1, Math.floor(clusters / own)), own],
  );
  await query(
    `insert into assignment (role_id, organization_id, user_id, on_cluster_id, created_by_type, created_by_id)
     select ($1::bigint[])[1 + (k / ${MEMBERS}) % 20], $2, m.id, t.id, 'user', m.id
       from generate_series(0, $3::bigint - 1) k
       join (select id, row_number() over (order by id) - 1 as n from account where name like 'assigned%') m on m.n = k % ${MEMBERS}
       join target t on t.n = (k * 7919 / ${MEMBERS} + k % ${MEMBERS} * 31) % $4
     on conflict do nothing`,
    [roles.map(({ id }) => id), org, assignments - own, clusters],
  );
  await query('vacuum analyze');
  const ids = `select t.id from target t where ${'$1::bigint is not null'} and`;
  const of = `exists (select 1 from assignment s, account a where a.id = s.user_id and a.name = $2 and s.on_cluster_id = t.id)`;
  const [{ id: seen }] = await query(`${ids} ${of} order by t.n desc limit 1`, [org, member]);
  const [{ id: unseen }] = await query(`${ids} not ${of} order by t.n desc limit 1`, [org, member]);
  const [{ count }] = await query('select count(*)::integer as count from tuple where store = $1', [org]);
  return { role: Number(role), tuples: count, seen: Number(seen), unseen: Number(unseen) };
}
