import { type Statement, sql } from '../../../src/db/db.ts';
import type { TestServer } from '../server/server.ts';
import { makeOrganization } from './people.ts';

/** As large as an organization can be by the promises of the console. */
export const BIG = { clusters: 10_000, members: 5000, teams: 1000, roles: 500 } as const;

const PEOPLE = sql(
  'test.bigPeople',
  `with made as (
     insert into account (kind, name, full_name) select 'user', 'crowd' || n, 'Member ' || n
       from generate_series(1, $1::integer) n returning id, name
   ) insert into email (account_id, address, verified, is_primary) select id, name || '@example.com', true, true from made`,
);
const TEAMS = sql(
  'test.bigTeams',
  `insert into team (organization_id, name, description, permission, type)
   select $1, 'team' || n, 'Looks after part ' || n, 'read', 'custom' from generate_series(1, $2::integer) n`,
);
// Each in one of the teams, so that every team has some.
const MEMBERS = sql(
  'test.bigMembers',
  `insert into team_member (team_id, account_id)
   select t.id, a.id from generate_series(1, $2::integer) n join account a on a.name = 'crowd' || n
     join team t on t.organization_id = $1 and t.name = 'team' || (n % $3::integer + 1)`,
);
const ROLES = sql(
  'test.bigRoles',
  `with made as (
     insert into role (organization_id, name, name_key, description)
     select $1, 'role' || n, 'role' || n, 'Does work ' || n from generate_series(1, $2::integer) n returning id, name
   ), may as (
     insert into role_permission (role_id, namespace, action, relation)
     select id, 'cluster_mgmt', 'view clusters', 'can_view_clusters' from made
   ) insert into assignment (role_id, team_id)
     select m.id, t.id from made m join team t on t.organization_id = $1 and t.name = 'team' || substr(m.name, 5)`,
);
const CLUSTERS = sql(
  'test.bigClusters',
  `insert into cluster (owner_id, name, display_name, uid, provider, node_count, phase, heartbeat_at)
   select $1, 'many' || n, 'Many ' || n, gen_random_uuid(), 'GKE', n % 50, 'Active',
          now() - case when n % 3 = 0 then interval '2 days' else interval '1 second' end
     from generate_series(1, $2::integer) n`,
);

type Run = (statement: Statement, values: readonly unknown[]) => Promise<unknown>;

/** Gives an organization very much of everything. */
export async function fillBigOrganization(run: Run, id: bigint | string): Promise<void> {
  await run(PEOPLE, [BIG.members]);
  await run(TEAMS, [id, BIG.teams]);
  await run(MEMBERS, [id, BIG.members, BIG.teams]);
  await run(ROLES, [id, BIG.roles]);
  await run(CLUSTERS, [id, BIG.clusters]);
}

/** An organization of that user with very much of everything. The server has answered nothing about it yet. */
export async function makeBigOrganization(atrium: TestServer, founder: string) {
  const made = await makeOrganization(atrium, founder);
  await fillBigOrganization(atrium.instance.db.query, made.id);
  return made;
}
