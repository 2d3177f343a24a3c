import { type Db, sql } from '../../src/db/db.ts';

/** A deployment large enough to expose a statement that reads everything: about a million tuples in total. */
export const ORGANIZATIONS = 1000;
/** The first ones have ten times as much as the others: more than 10,000 tuples each. */
export const LARGE = 6;

const STATEMENTS: readonly string[] = [
  `insert into account (kind, name) select 'user', 'user-' || n from generate_series(1, 20000) n`,
  `insert into account (kind, name) select 'organization', 'org-' || n from generate_series(1, ${ORGANIZATIONS}) n`,
  `create temporary table place as
     select a.id, split_part(a.name, '-', 2)::int as n, case when split_part(a.name, '-', 2)::int <= ${LARGE} then 10 else 1 end as size
       from account a where a.name like 'org-%'`,
  `insert into team (organization_id, name, permission, type)
     select p.id, t.name, t.permission, 'builtin' from place p,
       (values (1, 'Owners', 'owner'), (2, 'Editors', 'write'), (3, 'Viewers', 'read')) t (at, name, permission)
      order by p.n, t.at`,
  `insert into team (organization_id, name, permission, type)
     select p.id, 'team-' || k, 'none', 'custom' from place p, generate_series(1, 17 * p.size) k`,
  `insert into team_member (team_id, account_id)
     select t.id, (select id from account where name = 'user-1') + (t.id * 37 + k * 101) % 20000
       from team t, generate_series(1, 25) k on conflict do nothing`,
  `insert into role (organization_id, name, name_key)
     select p.id, 'role-' || k, 'role-' || k from place p, generate_series(1, 20 * p.size) k`,
  `insert into role_permission (role_id, namespace, action, relation)
     select r.id, c.namespace, c.action, c.relation
       from role r, unnest($1::text[], $2::text[], $3::text[]) with ordinality as c (namespace, action, relation, at)
      where (r.id + c.at) % 4 = 0`,
  `insert into assignment (role_id, team_id)
     select r.id, t.id from role r join team t on t.organization_id = r.organization_id where (r.id + t.id) % 20 = 0`,
  `insert into cluster (owner_id, name, uid)
     select p.id, 'cluster-' || k, p.id || '-' || k from place p, generate_series(1, 150 * p.size) k`,
  `insert into contract (owner_id, name, uid)
     select p.id, 'contract-' || k, p.id || '-' || k from place p, generate_series(1, 30 * p.size) k`,
  `insert into robot (owner_id, name) select p.id, 'robot-' || k from place p, generate_series(1, 10 * p.size) k`,
  `insert into token (account_id, robot_id, name, hash, last_eight, scopes)
     select r.owner_id, r.id, r.name, sha256(r.id::text::bytea), '', '{all}' from robot r`,
  'update revision set value = 1',
  'drop table place',
];

/** In one transaction, because of the temporary table. */
export async function fillLargeWorld(
  db: Db,
  catalog: readonly { namespace: string; action: string; relation: string }[],
): Promise<void> {
  const columns = [
    catalog.map((entry) => entry.namespace),
    catalog.map((entry) => entry.action),
    catalog.map((entry) => entry.relation),
  ];
  await db.transaction(async (query) => {
    for (const [at, text] of STATEMENTS.entries()) {
      await query(sql(`bench.fill.${at}`, text), text.includes('$3') ? columns : []);
    }
  });
}
