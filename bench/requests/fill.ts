import { randomBytes } from 'node:crypto';
import { DEFAULT_LIMITS } from '../../src/base/config/limits.ts';
import { appendAudit } from '../../src/changes/audit-chain.store.ts';
import { PLATFORM } from '../../src/changes/write.ts';
import { type Db, only } from '../../src/db/db.ts';
import { statement } from '../../test/support/server/statement.ts';
import type { TestMarketplace } from '../../test/support/world/marketplace.ts';
import { largestOrder } from './bodies.ts';
import { fillCrowd, fillGuardrails, fillSingleAssignments } from './fill-crowd.ts';
import { fillRoles } from './fill-roles.ts';

/** A server whose organization acme, and whose users ann and dan, have as much of everything as they may. */
export interface FullWorld {
  readonly atrium: TestMarketplace;
  readonly acme: bigint;
  readonly ann: bigint;
  readonly viewers: bigint;
  /** A custom team of acme, which a hundred roles or more are assigned to. */
  readonly team: bigint;
  /** A role of acme with all permissions and a hundred teams. */
  readonly role: bigint;
  readonly robot: bigint;
  readonly contract: bigint;
  readonly cluster: bigint;
  /** The largest order that is accepted. */
  readonly order: string;
  /** Runs a statement past the API. What the server remembers stays as it was. */
  run<Row = Record<string, unknown>>(text: string, values?: readonly unknown[]): Promise<Row[]>;
}

/** Not limited, so a figure that a busy organization reaches in some years. */
const AUDIT_ROWS = Number(process.env.BENCH_AUDIT ?? 100_000);
const AUDIT_AT_ONCE = 5000;

/** Fills acme and its people to the default limits, past the API wherever the API would take minutes. */
export async function fillWorld(atrium: TestMarketplace): Promise<FullWorld> {
  const { db } = atrium.instance;
  const run = async (text: string, values: readonly unknown[] = []) =>
    (await db.query(statement(text), values)) as never[];
  const acme = atrium.world.orgs.acme?.id ?? 0n;
  const ann = atrium.world.users.ann?.id ?? 0n;
  const dan = atrium.world.users.dan?.id ?? 0n;
  await fillRoles(db, acme, DEFAULT_LIMITS.membersPerOrganization - 30);
  await fillCrowd(db, acme, atrium.world.users.bob?.id ?? 0n);
  await fillResources(db, acme, ann);
  await fillSingleAssignments(db, acme);
  await fillPeople(db, ann, dan);
  await fillAudit(db, acme, ann);
  await fillCredentials(atrium);
  await fillGuardrails(db, acme);
  const order = (await atrium.as('ann')('POST', '/user/deploy/orders', largestOrder())).body.metadata.uid as string;
  await run(
    `insert into deploy_order (uid, owner_id, name, spec)
     select gen_random_uuid(), $1, 'order', json_build_object('items', '[]'::json, 'pad', repeat('x', 64000))
       from generate_series(2, $2::integer)`,
    [ann, DEFAULT_LIMITS.ordersPerUser - 20],
  );
  if (db.driver === 'postgres') await run('analyze');
  await forgetAll(atrium);
  const found = await run(
    `select (select min(id) from team where organization_id = $1 and type = 'custom' and name like 'Team number 500 %') as team,
            (select min(id) from role where organization_id = $1) as role,
            (select max(id) from robot where owner_id = $1) as robot,
            (select max(id) from contract where owner_id = $1) as contract,
            (select max(id) from cluster where owner_id = $1) as cluster`,
    [acme],
  );
  const viewers = atrium.world.orgs.acme?.teams.Viewers ?? 0n;
  const robotId = atrium.world.robots.ci ?? null;
  const { text: token } = await atrium.instance.identity.tokens.issue({
    ...{ accountId: acme, robotId },
    ...{ name: 'directory', scopes: ['scim'] },
  });
  Object.assign(atrium.world.users, { directory: { id: acme, token } });
  return {
    atrium,
    acme,
    ann,
    viewers,
    order,
    run,
    ...only(found as Pick<FullWorld, 'team' | 'role' | 'robot' | 'contract' | 'cluster'>[]),
  };
}

/** What the server remembers is void, as after a start: the changes that it would need to catch up are gone. */
export async function forgetAll({ instance }: TestMarketplace): Promise<void> {
  await instance.db.query(statement('update revision set value = value + 1, pruned = value + 1'));
  await instance.revisions.write(async (_query, touch) =>
    touch({ kind: 'platform', id: 0n, organizationId: PLATFORM }),
  );
}

async function fillResources(db: Db, acme: bigint, ann: bigint): Promise<void> {
  const { clustersPerOwner, robotsPerOrganization, contractsPerOrganization, tokensPerRobot } = DEFAULT_LIMITS;
  const run = (text: string, values: readonly unknown[]) => db.query(statement(text), values);
  for (const owner of [acme, ann]) {
    await run(
      `insert into cluster (owner_id, name, display_name, uid, provider, vendor, orchestrator_version, node_count,
                            endpoint, location, phase, message, heartbeat_at)
       select $1, 'cluster' || n, rpad('Cluster ' || n, 255, ' and more'), gen_random_uuid(), 'GKE', 'Google', 'v1.31.4',
              n % 50, 'https://' || rpad('host', 200, 'x') || '.example.com', 'europe-west4', 'Active',
              rpad('', 500, 'a message '), now() - case when n % 3 = 0 then interval '2 days' else interval '1 second' end
         from generate_series(1, $2::integer - 30) n`,
      [owner, clustersPerOwner],
    );
  }
  await run(
    `insert into robot (owner_id, name, description) select $1, 'robot' || n, rpad('', 1000, 'long ')
       from generate_series(1, $2::integer - 30) n`,
    [acme, robotsPerOrganization],
  );
  await run(
    `insert into contract (owner_id, uid, name, product, features, cluster_uids)
     select $1, gen_random_uuid(), 'contract' || n, 'product',
            array(select 'feature ' || f from generate_series(1, 100) f),
            array(select gen_random_uuid()::text from generate_series(1, 100))
       from generate_series(1, $2::integer - 30) n`,
    [acme, contractsPerOrganization],
  );
  const token = `insert into token (account_id, robot_id, name, hash, last_eight, scopes)
     select $1::bigint, $2::bigint, 'token' || n, sha256(concat($1::bigint, '/', $2::bigint, '/', n)::bytea), '12345678', '{all}'
       from generate_series(1, $3::integer - 30) n`;
  await run(token, [ann, null, DEFAULT_LIMITS.tokensPerUser]);
  const [robot] = await run('select max(id) as id from robot where owner_id = $1', [acme]);
  await run(token, [acme, robot?.id, tokensPerRobot]);
}

/** Followers and follows of ann, and dan as a member of as many organizations as possible, each with a cluster. */
async function fillPeople(db: Db, ann: bigint, dan: bigint): Promise<void> {
  const { followsPerUser, sessionsPerUser, teamsPerUser, emailsPerUser } = DEFAULT_LIMITS;
  await db.transaction(async (query) => {
    const run = (text: string, values: readonly unknown[] = []) => query(statement(text), values);
    // Without the triggers, which would count the followers one by one.
    await run('set local session_replication_role = replica');
    await run(
      `insert into follow (follower_id, followed_id, seq)
       select id, $1, 1000 + row_number() over (order by id) from account where name like 'mass%'`,
      [ann],
    );
    await run(
      `insert into follow (follower_id, followed_id, seq)
       select $1, id, 1 from account where name like 'mass%' order by id limit $2`,
      [ann, followsPerUser - 30],
    );
    await run(
      `insert into follow_block (followed_id, block, count)
       select followed_id, seq / 1000, count(*) from follow where followed_id = $1 group by 1, 2
           on conflict (followed_id, block) do update set count = excluded.count`,
      [ann],
    );
    await run('update account set follow_seq = 1 where id in (select followed_id from follow where follower_id = $1)', [
      ann,
    ]);
    await run(
      `update account set followers = (select count(*) from follow where followed_id = $1), follow_seq = 100000,
              followings = (select count(*) from follow where follower_id = $1) where id = $1`,
      [ann],
    );
  });
  const run = (text: string, values: readonly unknown[]) => db.query(statement(text), values);
  await run(
    `with made as (
       insert into account (kind, name, full_name)
       select 'organization', 'many' || n, 'One of many, number ' || n from generate_series(1, $2::integer - 30) n
       returning id
     ), owners as (
       insert into team (organization_id, name, permission, type) select id, 'Owners', 'owner', 'builtin' from made
     ), viewers as (
       insert into team (organization_id, name, permission, type) select id, 'Viewers', 'read', 'builtin' from made
       returning id
     ), clusters as (
       insert into cluster (owner_id, name, display_name, uid, provider)
       select id, 'only', 'The only cluster', gen_random_uuid(), 'GKE' from made
     )
     insert into team_member (team_id, account_id) select id, $1 from viewers`,
    [dan, teamsPerUser],
  );
  await run(
    `insert into session (hash, account_id, csrf, expires_at, user_agent, ip)
     select sha256(('session' || n)::bytea), $1, 'x', now() + interval '7 days', rpad('Agent ', 200, 'long '), '192.0.2.1'
       from generate_series(1, $2::integer - 10) n`,
    [ann, sessionsPerUser],
  );
  await run(
    `insert into email (account_id, address, verified, is_primary)
     select $1, 'ann' || n || '@example.com', true, false from generate_series(1, $2::integer - 10) n`,
    [ann, emailsPerUser],
  );
}

/** With a valid chain, so that verifying it reads all of it. */
async function fillAudit(db: Db, acme: bigint, ann: bigint): Promise<void> {
  const state = {
    name: 'Operators',
    description: 'Look after the clusters of the company, at night too',
    teamIds: ['12'],
  };
  for (let done = 0; done < AUDIT_ROWS; done += AUDIT_AT_ONCE) {
    const entries = Array.from({ length: AUDIT_AT_ONCE }, (_, number) => ({
      actor: { id: ann, name: 'ann', requestId: `bench-${done + number}` },
      organizationId: acme,
      action: 'role.update' as const,
      objectType: 'role' as const,
      objectId: BigInt(number % 500),
      before: state,
      after: state,
    }));
    await db.transaction((query) => appendAudit(query, entries));
  }
}

/** As many as possible, with nearly as many bytes as possible, of numbers that are read one by one. */
async function fillCredentials(atrium: TestMarketplace): Promise<void> {
  const spec = {
    type: 'Rancher',
    rancher: { endpoint: 'https://x' },
    list: Array(20_000).fill(1),
    pad: randomBytes(19_000).toString('hex'),
  };
  for (let number = 0; number < DEFAULT_LIMITS.credentialsPerUser - 10; number++) {
    await atrium.as('ann')('POST', '/user/credentials', { name: `c${number}`, ...spec });
  }
}
