import { cpus } from 'node:os';
import { type Db, only } from '../src/db/db.ts';
import { CATALOG } from '../src/roles/catalog.ts';
import { DRIVERS } from '../test/support/server/db.ts';
import { openTestServer } from '../test/support/server/server.ts';
import { statement } from '../test/support/server/statement.ts';
import { median, spread } from './support/figures.ts';

/**
 * Previews of changes in an organization of some 10,000 tuples: a thousand people in 170 teams, so that hardly any two
 * are in the same ones, 200 roles and 2,750 clusters. Over HTTP, on both databases. Then once more while every fifth
 * membership and every tenth assignment ends at some time, and there are five guardrails.
 */
const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 15);
const TARGET_MS = 100;

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

const ENDS: readonly string[] = [
  `update team_member set expires_at = now() + make_interval(days => 1 + (account_id % 300)::integer)
    where account_id % 5 = 0 and team_id in (select id from team where organization_id = $1 and type = 'custom')`,
  `update assignment set expires_at = now() + make_interval(days => 1 + (team_id % 300)::integer)
    where role_id % 10 = 0 and role_id in (select id from role where organization_id = $1)`,
];
const GUARDRAILS: readonly object[] = [
  { name: 'owner', at_least: { count: 1, relation: 'can_delete' } },
  { name: 'readers of the log', at_most: { count: 5000, relation: 'can_view_audit_log' } },
  { name: 'stranger', never: { users: ['eve'], relation: 'can_edit' } },
  { name: 'ann', always: { users: ['ann'], relation: 'can_view' } },
  {
    name: 'removers',
    at_most: { count: 5000, relation: 'can_remove', object: { type: 'cluster', name: 'cluster-1' } },
  },
];

const rows: string[][] = [];
for (const driver of DRIVERS) {
  const atrium = await openTestServer({ driver, env: { RATE_LIMIT: '0', LOG_LEVEL: 'error' } });
  const acme = atrium.world.orgs.acme?.id ?? 0n;
  const tuples = await fill(atrium.instance.db, acme);
  const find = async (table: string, name: string) => {
    const text = `select id from ${table} where organization_id = $1 and name = $2`;
    return Number(only(await atrium.instance.db.query<{ id: bigint }>(statement(text), [acme, name])).id);
  };
  const [team, role] = [await find('team', 'team-20'), await find('role', 'role-7')];
  const plans: Readonly<Record<string, object>> = {
    'a role loses its permissions': { action: 'role.update', id: role, role: { permissions: [] } },
    'a team gets another permission': { action: 'team.update', id: team, team: { permission: 'write' } },
    'a team is deleted': { action: 'team.delete', id: team },
    'the last owner leaves': { action: 'member.remove', username: 'ann' },
  };
  await measure('');
  for (const text of ENDS) await atrium.instance.db.query(statement(text), [acme]);
  for (const body of GUARDRAILS) {
    const { status, text } = await atrium.as('ann')('POST', '/authz/guardrails?org=acme', body);
    if (status !== 201) throw new Error(text);
  }
  await measure(', with ends and guardrails');
  await atrium.close();

  async function measure(circumstance: string): Promise<void> {
    for (const [what, change] of Object.entries(plans)) {
      const times: number[] = [];
      const work: number[] = [];
      let total = 0;
      for (let round = 0; round < ROUNDS; round++) {
        const [start, used] = [performance.now(), process.cpuUsage()];
        const { status, body, text } = await atrium.as('ann')('POST', '/authz/preview?org=acme', { changes: [change] });
        times.push(performance.now() - start);
        const { user, system } = process.cpuUsage(used);
        work.push((user + system) / 1000);
        if (status !== 200) throw new Error(`${what}: ${status} ${text.slice(0, 300)}`);
        total = body.total;
      }
      // The first round also compiles what it needs. Processor time counts what the client in this process does, too.
      const counted = times.slice(1);
      rows.push([
        `${driver}, ${tuples} tuples${circumstance}: ${what}`,
        `${total} people`,
        `${median(counted).toFixed(0)} ms (${spread(counted)})`,
        `${median(work.slice(1)).toFixed(0)} ms`,
        `< ${TARGET_MS} ms`,
      ]);
    }
  }
}
process.stdout.write(`\n${cpus().length} × ${cpus()[0]?.model.trim()}, Node ${process.version}; medians.\n\n`);
process.stdout.write('| what | affected | measured | processor time | target |\n|---|---|---|---|---|\n');
for (const row of rows) process.stdout.write(`| ${row.join(' | ')} |\n`);
process.exit();

async function fill(db: Db, acme: bigint): Promise<number> {
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
