import { randomBytes, randomUUID } from 'node:crypto';
import type { House } from '../house.ts';

/** The parts of a house that a world is made with: the same rules that every caller goes through. */
export type Builders = Pick<
  House,
  'people' | 'organizations' | 'resources' | 'tokens' | 'follows' | 'roles' | 'emails' | 'credentials'
>;

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

export interface DemoWorld {
  readonly users: Record<string, DemoUser>;
  readonly orgs: Record<string, DemoOrganization>;
  readonly clusters: Record<string, { id: bigint; uid: string; org?: string; owner?: string }>;
  readonly contracts: Record<string, bigint>;
  readonly robots: Record<string, bigint>;
  readonly tokens: Record<string, bigint>;
}

const FANS = 45;
/** Keys that open nothing: made up, in the shape of real ones. */
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

/** The cast that never changes: ann owns acme, bob edits, cat looks, dan operates, eve is a stranger, root runs it. */
export async function buildWorld(house: Builders): Promise<DemoWorld> {
  const users: Record<string, DemoUser> = {
    root: await person(house, 'root', 'Root', { isAdmin: true }),
    ann: await person(house, 'ann', 'Ann Archer'),
    bob: await person(house, 'bob', 'Bob Baker'),
    cat: await person(house, 'cat', 'Cat Cooper'),
    dan: await person(house, 'dan', 'Dan Draper'),
    eve: await person(house, 'eve', 'Eve Eaton'),
    mia: await person(house, 'mia', 'Mia Miller', { active: false }),
    zed: await person(house, 'zed', 'Zed Ziegler', { prohibitLogin: true }),
  };
  const id = (name: string) => users[name]?.id ?? 0n;

  const acme = await house.organizations.create({ name: 'acme', fullName: 'Acme Corporation', founderId: id('ann') });
  const operators = await house.organizations.createTeam({
    organizationId: acme.id,
    name: 'operators',
    description: 'Keeps the clusters running.',
    permission: 'none',
  });
  const globex = await house.organizations.create({ name: 'globex', fullName: 'Globex', founderId: id('eve') });
  const traders = await house.organizations.createTeam({
    organizationId: globex.id,
    name: 'traders',
    permission: 'read',
  });
  await house.organizations.addMember(acme.teams.get('Editors') ?? 0n, id('bob'));
  await house.organizations.addMember(acme.teams.get('Viewers') ?? 0n, id('cat'));
  await house.organizations.addMember(operators, id('dan'));

  const clusterOperator = await house.roles.create(
    { organizationId: acme.id, actor: { id: id('ann'), name: 'ann', requestId: 'demo' } },
    {
      name: 'cluster-operator',
      description: 'Sees clusters and connects to them.',
      permissions: [
        { namespace: 'cluster_mgmt', action: 'view clusters' },
        { namespace: 'cluster_mgmt', action: 'connect to clusters' },
      ],
      teamIds: [operators],
    },
  );

  const clusters = {
    prod: { ...(await cluster(house, acme.id, 'prod', 'GKE', 5)), org: 'acme' },
    staging: { ...(await cluster(house, acme.id, 'staging', 'EKS', 3)), org: 'acme' },
    laptop: { ...(await cluster(house, id('ann'), 'laptop', 'Generic', 1)), owner: 'ann' },
    globex: { ...(await cluster(house, globex.id, 'globex', 'AKS', 2)), org: 'globex' },
  };
  const contracts = {
    acme: await contract(house, acme.id, 'acme'),
    globex: await contract(house, globex.id, 'globex'),
  };
  const ci = await house.resources.createRobot({ ownerId: acme.id, name: 'ci', description: 'Builds and deploys.' });
  const robotToken = await house.tokens.issue({ accountId: acme.id, robotId: ci, name: 'ci', scopes: ['all'] });

  for (const spec of CREDENTIALS) {
    const actor = { id: id('ann'), name: 'ann', requestId: 'demo' };
    await house.credentials.create(actor, JSON.stringify({ ...spec, ownerID: Number(actor.id) }));
  }

  await house.emails.addUnverified(id('ann'), 'ann.archer@example.org');
  await house.follows.follow(id('ann'), 'bob');
  await house.follows.follow(id('bob'), 'ann');
  for (let number = 1; number <= FANS; number++) {
    const name = `fan${String(number).padStart(2, '0')}`;
    const fan = await house.people.create({ name, email: `${name}@example.com`, fullName: `Fan ${number}` });
    await house.follows.follow(fan, 'root');
    users[name] = { id: fan };
  }

  return {
    users,
    orgs: {
      acme: {
        id: acme.id,
        teams: { ...Object.fromEntries(acme.teams), operators },
        roles: { 'cluster-operator': clusterOperator.id },
      },
      globex: { id: globex.id, teams: { ...Object.fromEntries(globex.teams), traders }, roles: {} },
    },
    clusters,
    contracts,
    robots: { ci },
    tokens: { acme: robotToken.id },
  };
}

interface Traits {
  readonly isAdmin?: boolean;
  readonly active?: boolean;
  readonly prohibitLogin?: boolean;
}

async function person(house: Builders, name: string, fullName: string, traits: Traits = {}): Promise<DemoUser> {
  const password = randomBytes(12).toString('base64url');
  const email = `${name}@example.com`;
  const id = await house.people.create({ name, email, fullName, password, ...traits });
  const { text } = await house.tokens.issue({ accountId: id, name: 'demo', scopes: ['all'] });
  return { id, token: text, password, email };
}

async function cluster(house: Builders, ownerId: bigint, name: string, provider: string, nodeCount: number) {
  const uid = randomUUID();
  const id = await house.resources.createCluster({
    ownerId,
    name,
    uid,
    provider,
    nodeCount,
    orchestratorVersion: 'v1.33.4',
    location: 'eu-central',
    phase: 'Active',
  });
  return { id, uid };
}

async function contract(house: Builders, ownerId: bigint, name: string): Promise<bigint> {
  const endsAt = new Date(Date.now() + YEAR_MS);
  return await house.resources.createContract({ ownerId, uid: randomUUID(), name, product: 'platform', endsAt });
}
