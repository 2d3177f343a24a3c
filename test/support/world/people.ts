import { DEFAULT_LIMITS } from '../../../src/base/config/limits.ts';
import { createQuotas } from '../../../src/changes/quotas.store.ts';
import { only, sql } from '../../../src/db/db.ts';
import type { Instance } from '../../../src/instance.ts';
import { createMemberStore } from '../../../src/organizations/members.store.ts';
import { createTeamStore } from '../../../src/organizations/teams.store.ts';
import type { NewTeam } from '../../../src/organizations/teams.ts';
import type { TestServer } from '../server/server.ts';

type Stores = Pick<Instance, 'db' | 'revisions'>;

const CLUSTER = sql(
  'test.cluster',
  `insert into cluster (owner_id, name, uid, display_name, phase) values ($1, $2, $3, $2, 'Registered') returning id`,
);
const NAME = sql('test.name', 'select name from account where id = $1');
/** Not a real user, so that no one's own permissions are checked. */
const ACTOR = { id: 0n, name: 'test', requestId: 'test' };
const QUOTAS = createQuotas(DEFAULT_LIMITS);
let created = 0;

/** A new user who is in no organization. `atrium.as(name)` calls as that user. */
export async function makePerson({ instance, world }: TestServer, traits: { isAdmin?: boolean } = {}) {
  const name = `person${++created}`;
  const id = await instance.features.users.create({ name, email: `${name}@example.com`, ...traits });
  const { text } = await instance.identity.tokens.issue({ accountId: id, name: 'test', scopes: ['all'] });
  world.users[name] = { id, token: text };
  return { name, id, token: text };
}

/** A new organization of that user, with its teams by name. */
export async function makeOrganization({ instance, world }: TestServer, founder: string) {
  const name = `org${++created}`;
  const founderId = world.users[founder]?.id ?? 0n;
  const { id, teams } = await instance.features.organizations.create({ name, founderId });
  world.orgs[name] = { id, teams: Object.fromEntries(teams), roles: {} };
  return { name, id, team: (team: string) => Number(teams.get(team)) };
}

export async function createTeam({ db, revisions }: Stores, { organizationId, ...team }: NewTeam): Promise<bigint> {
  const draft = { description: '', type: 'custom', ...team, units: team.units ?? [] } as const;
  const outcome = await createTeamStore(db, revisions.write, QUOTAS).create(
    organizationId,
    { ...draft, description: team.description ?? '' },
    ACTOR,
  );
  if (outcome === undefined || outcome === 'name taken') throw new Error(`no team was created: ${outcome}`);
  return outcome.id;
}

export async function addMember({ db, revisions }: Stores, teamId: bigint, accountId: bigint): Promise<void> {
  const isDone = await createMemberStore(db, revisions.write, QUOTAS).add(teamId, accountId, () => undefined, ACTOR);
  if (!isDone) throw new Error('the team or the user does not exist');
}

export async function removeMember({ db, revisions }: Stores, teamId: bigint, accountId: bigint): Promise<void> {
  const outcome = await createMemberStore(db, revisions.write, QUOTAS).remove(
    teamId,
    accountId,
    () => undefined,
    ACTOR,
  );
  if (outcome !== 'removed') throw new Error(outcome);
}

export async function setActive(instance: Instance, accountId: bigint, active: boolean): Promise<void> {
  const [row] = await instance.db.query<{ name: string }>(NAME, [accountId]);
  await instance.features.users.update(row?.name ?? '', { active }, () => undefined, ACTOR);
}

/** Inserts directly into the table, so that a test can have a cluster that no rule would allow. */
export async function createCluster(
  { revisions }: Stores,
  { ownerId, name, uid }: { ownerId: bigint; name: string; uid: string },
): Promise<bigint> {
  return await revisions.write(async (query, touch) => {
    const { id } = only(await query<{ id: bigint }>(CLUSTER, [ownerId, name, uid]));
    touch({ kind: 'cluster', id, organizationId: ownerId });
    return id;
  });
}

export async function createRobot(instance: Instance, ownerId: bigint, name: string): Promise<bigint> {
  return (await instance.features.robots.create(ownerId, { name }, ACTOR)).id;
}
