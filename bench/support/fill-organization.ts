import { type Db, only } from '../../src/db/db.ts';
import { CATALOG } from '../../src/roles/catalog.ts';
import { statement } from '../../test/support/server/statement.ts';

const FILL: readonly string[] = [
  `insert into account (kind, name) select 'user', 'person-' || n from generate_series(1, 1000) n`,
  `insert into team (organization_id, name, permission, type)
     select $1::bigint, 'team-' || k, case when k % 10 = 0 then 'read' else 'none' end, 'custom' from generate_series(1, 170) k`,
  `insert into team_member (team_id, account_id)
     select t.id, (select id from account where name = 'person-1') + (t.id * 37 + k * 101) % 1000
       from team t, generate_series(1, 20) k where t.organization_id = $1 and t.name like 'team-%' on conflict do nothing`,
  `insert into role (organization_id, name, name_key)
     select $1::bigint, 'role-' || k, 'role-' || k from generate_series(1, 200) k`,
  `insert into role_permission (role_id, namespace, action, relation)
     select r.id, c.namespace, c.action, c.relation
       from role r, unnest($2::text[], $3::text[], $4::text[]) with ordinality as c (namespace, action, relation, at)
      where r.organization_id = $1 and r.name like 'role-%' and (r.id + c.at) % 4 = 0`,
  `insert into assignment (role_id, team_id)
     select r.id, t.id from role r join team t on t.organization_id = r.organization_id
      where r.organization_id = $1 and r.name like 'role-%' and (r.id + t.id) % 20 = 0`,
  `insert into cluster (owner_id, name, uid)
     select $1::bigint, 'cluster-' || k, 'bench-' || k from generate_series(1, 2750) k`,
];

/** Some 10,000 tuples: a thousand people in 170 teams, 200 roles and 2,750 clusters. Returns how many there are. */
export async function fillOrganization(db: Db, acme: bigint): Promise<number> {
  const columns = (['namespace', 'action', 'relation'] as const).map((key) => CATALOG.map((entry) => entry[key]));
  for (const text of FILL) {
    const values = text.includes('$4') ? [acme, ...columns] : text.includes('$1') ? [acme] : [];
    await db.query(statement(text), values);
  }
  if (db.driver === 'postgres') await db.query(statement('analyze'));
  await db.query(statement('update revision set value = value + 1, pruned = value + 1'));
  const count = 'select count(*)::integer as count from tuple where store in ($1, 0)';
  return only(await db.query<{ count: number }>(statement(count), [acme])).count;
}
