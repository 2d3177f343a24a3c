import { cpus } from 'node:os';
import { only } from '../src/db/db.ts';
import { DRIVERS } from '../test/support/server/db.ts';
import { openTestServer } from '../test/support/server/server.ts';
import { statement } from '../test/support/server/statement.ts';
import { median, spread } from './support/figures.ts';
import { fillOrganization } from './support/fill-organization.ts';

/**
 * Previews of changes in an organization of some 10,000 tuples: a thousand people in 170 teams, so that hardly any two
 * are in the same ones, 200 roles and 2,750 clusters. Over HTTP, on both databases. Then once more while every fifth
 * membership and every tenth assignment ends at some time, and there are five guardrails.
 */
const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 15);
const TARGET_MS = 100;

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
  const tuples = await fillOrganization(atrium.instance.db, acme);
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
