import { randomBytes, randomUUID } from 'node:crypto';
import type { Actor } from '../../changes/audit-entry.ts';
import type { PluralOf, ResourceType } from '../../changes/object-kinds.ts';
import type { Instance } from '../../instance.ts';

/** The world is created through the same rules as every request, on behalf of the users who would do it. */
type Builders = Pick<Instance, 'features' | 'identity'>;

export interface DemoUser {
  readonly id: bigint;
  readonly token?: string;
  readonly password?: string;
  readonly email?: string;
}

export interface DemoOrganization {
  readonly id: bigint;
  readonly teams: Record<string, bigint>;
  readonly roles: Record<string, bigint>;
}

/** The IDs of resources by name. */
type DemoResources = Readonly<Record<Exclude<PluralOf<ResourceType>, 'clusters'>, Record<string, bigint>>>;

export interface DemoWorld extends DemoResources {
  readonly users: Record<string, DemoUser>;
  readonly orgs: Record<string, DemoOrganization>;
  readonly clusters: Record<string, { id: bigint; uid: string; org?: string; owner?: string }>;
}

const FANS = 45;
/** Fake keys in the format of real ones. They open nothing. */
const CREDENTIALS = [
  {
    name: 'ann-aws',
    type: 'Aws',
    aws: { accessKeyID: 'AKIADEMODEMODEMODEMO', secretAccessKey: 'demo/demo/demo/demo/demo/demo/demo/demo+' },
  },
  {
    name: 'ann-gcp',
    type: 'GoogleCloud',
    googleCloud: {
      projectID: 'demo-project',
      serviceAccount: JSON.stringify({
        type: 'service_account',
        project_id: 'demo-project',
        client_email: 'demo@demo-project.iam.gserviceaccount.com',
        private_key: 'made up, opens nothing',
      }),
    },
  },
];
const YEAR_MS = 365 * 86_400_000;

/**
 * The users never change: ann owns acme, bob edits, cat views, dan operates, eve is an outsider, root runs the
 * platform.
 */
export async function buildWorld(instance: Builders): Promise<DemoWorld> {
  const { organizations, teams, members, roles, robots, credentials, emails, follows } = instance.features;
  const users = await buildUsers(instance);
  const id = (name: string) => users[name]?.id ?? 0n;
  const as = (name: string): Actor => ({ id: id(name), name, requestId: 'demo' });

  const acme = await organizations.create(
    { name: 'acme', fullName: 'Acme Corporation', founderId: id('ann') },
    as('ann'),
  );
  const operators = await teams.create(
    {
      organizationId: acme.id,
      name: 'operators',
      description: 'Keeps the clusters running.',
      permission: 'none',
    },
    as('ann'),
  );
  const globex = await organizations.create({ name: 'globex', fullName: 'Globex', founderId: id('eve') }, as('eve'));
  const traders = await teams.create({ organizationId: globex.id, name: 'traders', permission: 'read' }, as('eve'));
  await members.addToTeam(acme.id, acme.teams.get('Editors') ?? 0n, 'bob', as('ann'));
  await members.addToTeam(acme.id, acme.teams.get('Viewers') ?? 0n, 'cat', as('ann'));
  await members.addToTeam(acme.id, operators.id, 'dan', as('ann'));

  const clusterOperator = await roles.create(
    { organizationId: acme.id, actor: as('ann') },
    {
      name: 'cluster-operator',
      description: 'Sees clusters and connects to them.',
      permissions: [
        { namespace: 'cluster_mgmt', action: 'view clusters' },
        { namespace: 'cluster_mgmt', action: 'connect to clusters' },
      ],
      teamIds: [operators.id],
    },
  );

  const clusters = {
    prod: { ...(await cluster(instance, acme.id, 'prod', 'GKE', 5, as('ann'))), org: 'acme' },
    staging: { ...(await cluster(instance, acme.id, 'staging', 'EKS', 3, as('ann'))), org: 'acme' },
    laptop: { ...(await cluster(instance, id('ann'), 'laptop', 'Generic', 1, as('ann'))), owner: 'ann' },
    globex: { ...(await cluster(instance, globex.id, 'globex', 'AKS', 2, as('eve'))), org: 'globex' },
  };
  const contracts = {
    acme: await contract(instance, acme.id, 'acme', as('ann')),
    globex: await contract(instance, globex.id, 'globex', as('eve')),
  };
  const ci = await robots.create(acme.id, { name: 'ci', description: 'Builds and deploys.' }, as('ann'));
  const robotToken = await instance.identity.tokens.issue({
    accountId: acme.id,
    robotId: ci.id,
    name: 'ci',
    scopes: ['all'],
    actor: as('ann'),
  });
  for (const spec of CREDENTIALS) {
    await credentials.create(as('ann'), JSON.stringify({ ...spec, ownerID: Number(id('ann')) }));
  }
  await emails.addUnverified(id('ann'), 'ann.archer@example.org');
  await follows.follow(id('ann'), 'bob');
  await follows.follow(id('bob'), 'ann');
  Object.assign(users, await buildFans(instance));

  return {
    users,
    orgs: {
      acme: {
        id: acme.id,
        teams: { ...Object.fromEntries(acme.teams), operators: operators.id },
        roles: { 'cluster-operator': clusterOperator.id },
      },
      globex: { id: globex.id, teams: { ...Object.fromEntries(globex.teams), traders: traders.id }, roles: {} },
    },
    clusters,
    contracts,
    robots: { ci: ci.id },
    tokens: { acme: robotToken.id },
  } satisfies DemoWorld;
}

async function buildUsers(instance: Builders): Promise<Record<string, DemoUser>> {
  return {
    root: await user(instance, 'root', 'Root', { isAdmin: true }),
    ann: await user(instance, 'ann', 'Ann Archer'),
    bob: await user(instance, 'bob', 'Bob Baker'),
    cat: await user(instance, 'cat', 'Cat Cooper'),
    dan: await user(instance, 'dan', 'Dan Draper'),
    eve: await user(instance, 'eve', 'Eve Eaton'),
    mia: await user(instance, 'mia', 'Mia Miller', { active: false }),
    zed: await user(instance, 'zed', 'Zed Ziegler', { prohibitLogin: true }),
  };
}

/** The followers of root. */
async function buildFans({ features }: Builders): Promise<Record<string, DemoUser>> {
  const fans: Record<string, DemoUser> = {};
  for (let number = 1; number <= FANS; number++) {
    const name = `fan${String(number).padStart(2, '0')}`;
    const id = await features.users.create({ name, email: `${name}@example.com`, fullName: `Fan ${number}` });
    await features.follows.follow(id, 'root');
    fans[name] = { id };
  }
  return fans;
}

interface Flags {
  readonly isAdmin?: boolean;
  readonly active?: boolean;
  readonly prohibitLogin?: boolean;
}

async function user({ features, identity }: Builders, name: string, fullName: string, flags: Flags = {}) {
  const password = randomBytes(12).toString('base64url');
  const email = `${name}@example.com`;
  const id = await features.users.create({ name, email, fullName, password, ...flags });
  const { text } = await identity.tokens.issue({ accountId: id, name: 'demo', scopes: ['all'] });
  return { id, token: text, password, email };
}

async function cluster(
  { features }: Builders,
  ownerId: bigint,
  name: string,
  provider: string,
  nodeCount: number,
  actor: Actor,
) {
  const uid = randomUUID();
  const fields = { name, uid, provider, nodeCount, orchestratorVersion: 'v1.33.4', location: 'eu-central' };
  const { id } = await features.clusters.create(ownerId, fields, actor);
  return { id, uid };
}

async function contract({ features }: Builders, ownerId: bigint, name: string, actor: Actor): Promise<bigint> {
  const now = new Date();
  const fields = { name, product: 'platform', endsAt: new Date(now.getTime() + YEAR_MS) };
  return (await features.contracts.create(ownerId, fields, { actor, isAdmin: false, now })).id;
}
