import type { Db } from '../../src/db/db.ts';
import { CATALOG } from '../../src/roles/catalog.ts';
import { statement } from '../../test/support/server/statement.ts';

/** Everything that the graph of an organization is made of, at its default limit, written past the API. */
export async function fillRoles(db: Db, id: bigint, members: number): Promise<void> {
  const run = (text: string, values: readonly unknown[]) => db.query(statement(text), values);
  await run('delete from role where organization_id = $1', [id]);
  await run(
    `insert into team (organization_id, name, permission, type)
     select $1, rpad('Team number ' || n || ' ', 100, 'with a long name '), 'none', 'custom' from generate_series(1, 990) n`,
    [id],
  );
  await run(
    `insert into role (organization_id, name, name_key, description)
     select $1, 'role number ' || n, 'role number ' || n, repeat('nine ü-s ', 111) from generate_series(1, 500) n`,
    [id],
  );
  await run(
    `insert into role_permission (role_id, namespace, action, relation)
     select r.id, p.namespace, p.action, p.relation
       from role r, unnest($2::text[], $3::text[], $4::text[]) as p (namespace, action, relation)
      where r.organization_id = $1`,
    [id, ...(['namespace', 'action', 'relation'] as const).map((key) => CATALOG.map((one) => one[key]))],
  );
  await run(
    `insert into assignment (role_id, team_id)
     select r.id, t.id from role r cross join lateral (
       select id from team where organization_id = $1 and type = 'custom' order by id limit 100 offset r.id % 800) t
      where r.organization_id = $1`,
    [id],
  );
  await run(`insert into account (kind, name) select 'user', 'mass' || n from generate_series(1, $1::integer) n`, [
    members,
  ]);
  await run(
    `insert into team_member (team_id, account_id)
     select (select id from team where organization_id = $1 and name = 'Viewers'), id from account where name like 'mass%'`,
    [id],
  );
}
