import assert from 'node:assert/strict';
import { sql } from '../../src/db/db.ts';
import type { Answer, TestServer } from '../support/server/server.ts';

/** Everything that another tenant owns and that a request can name, by its meaning. */
export type Names = Readonly<Record<string, string>>;

export interface Attacker {
  readonly name: string;
  /** What the attacker may name: the attacker's own things. */
  readonly own: Names;
}

/** Texts and IDs of the victim that no request ever contains. If one appears in an answer, it came from the server. */
export const HIDDEN = /hush|\b77000\d\d\b/;
/** IDs and names of what is created during the test. */
export const CREATED = /\b9\d{6}\b|\bnew\d+[cnr]\b/g;

const TABLES = [
  'account',
  'team',
  'role',
  'assignment',
  'guardrail',
  'review',
  'review_item',
  'cluster',
  'contract',
  'robot',
  'token',
  'audit',
];
const NAMED_FROM = 7_000_000;
const HIDDEN_FROM = 7_700_000;
const CREATED_FROM = 9_000_000;

/**
 * A victim and four attackers. IDs of the victim's things are far from all others, so that they cannot occur by chance.
 * For each name of a thing of the victim there is one of the same length that names nothing.
 */
export async function openTenantWorlds(atrium: TestServer) {
  const root = atrium.as('root');
  const strangers = [await attacker('mallory', 'mallcorp'), await attacker('lonely', 'lonecorp')];
  const attackers = [...strangers, ...(await limitedAttackers('twofold', 'twofcorp'))];
  await idsFrom(NAMED_FROM);
  const victim = await buildVictim('cnry');
  await idsFrom(HIDDEN_FROM);
  await ownThings('cnryboss', 'cnryorga', 'hush');
  await joinVictim('twofold');
  await idsFrom(CREATED_FROM);
  return {
    attackers,
    victim,
    absent: likeBut(victim, 'none', '8'),
    neutral: likeBut(victim, 'ntrl', '6'),
    stateOfVictim,
  };

  async function idsFrom(first: number): Promise<void> {
    for (const table of TABLES) {
      const start = sql(`test.ids.${table}.${first}`, `alter table ${table} alter column id restart with ${first}`);
      await atrium.instance.db.query(start);
    }
  }

  async function person(name: string): Promise<number> {
    const mail = `${name}@mail.example`;
    const id = await atrium.instance.features.users.create({ name, email: mail });
    const { text } = await atrium.instance.identity.tokens.issue({ accountId: id, name: 'main', scopes: ['all'] });
    atrium.world.users[name] = { id, token: text };
    return Number(id);
  }

  async function attacker(name: string, organization: string): Promise<Attacker> {
    await person(name);
    await person(`${name}2`);
    const as = atrium.as(name);
    ok(await as('POST', '/orgs', { username: organization }));
    const own = await ownThings(name, organization, `own${name}`);
    return { name, own: { ...own, person: `${name}2`, organization } };
  }

  /**
   * Somebody who will own the organization of the victim, too, with tokens that are limited to their own organization
   * and to one cluster in it. For these tokens, the victim must be as far away as for a stranger.
   */
  async function limitedAttackers(owner: string, organization: string): Promise<Attacker[]> {
    const { own } = await attacker(owner, organization);
    const { id } = ok(await atrium.as(owner)('GET', `/orgs/${organization}`)).body;
    const cluster = { type: 'cluster', id: BigInt(own.cluster ?? 0), name: '', ownerId: BigInt(id) } as const;
    const accountId = atrium.world.users[owner]?.id ?? 0n;
    const attackers: Attacker[] = [];
    for (const [name, limits] of [
      ['inside', { organizations: [{ id: BigInt(id), name: organization }], objects: [] }],
      ['single', { organizations: [], objects: [cluster] }],
    ] as const) {
      const { text } = await atrium.instance.identity.tokens.issue({ accountId, name, scopes: ['all'], limits });
      atrium.world.users[name] = { id: accountId, token: text };
      attackers.push({ name, own });
    }
    return attackers;
  }

  /** An owner of the victim's organization, who also has things of their own. */
  async function joinVictim(name: string): Promise<void> {
    const [owners] = ok(await atrium.as('cnryboss')('GET', '/orgs/cnryorga/teams')).body;
    ok(await atrium.as('cnryboss')('PUT', `/teams/${owners.id}/members/${name}`));
    const as = atrium.as(name);
    ok(await as('POST', '/user/clusters', { name: 'hushlaptop', uid: uuidFor('hushlap') }));
    ok(await as('POST', '/user/emails', { emails: ['hush.private@mail.example'] }));
    ok(await as('POST', '/user/credentials', { name: 'hushprivate', type: 'Other', other: { password: 'hush' } }));
  }

  /** One of each kind in an organization, and of its owner. */
  async function ownThings(owner: string, organization: string, prefix: string): Promise<Names> {
    const as = atrium.as(owner);
    const secret = prefix.startsWith('own') ? 'mine' : 'hush';
    const description = `${secret} description`;
    const team = ok(
      await as('POST', `/orgs/${organization}/teams`, { name: `${prefix}team`, description, permission: 'read' }),
    ).body;
    const permissions = [{ namespace: 'org_mgmt', action: 'edit' }];
    const body = { name: `${prefix}role`, description, permissions, teamIDs: [team.id] };
    const role = ok(await as('POST', `/authz/roles?org=${organization}`, body)).body;
    const watched = { name: `${prefix}guardrail`, description, enforce: false };
    const never = { users: [owner], team: team.id, relation: 'can_delete' };
    const guardrail = ok(await as('POST', `/authz/guardrails?org=${organization}`, { ...watched, never })).body;
    const uid = uuidFor(prefix);
    const about = { displayName: description, location: secret, endpoint: `https://${secret}.example` };
    const clusterBody = { name: `${prefix}cluster`, uid, ...about };
    const cluster = ok(await as('POST', `/orgs/${organization}/clusters`, clusterBody)).body;
    const assigned = { role: { id: role.id }, to: { type: 'team', id: team.id }, on: { type: 'team', id: team.id } };
    const viewTeams = { permissions: [...permissions, { namespace: 'org_mgmt', action: 'view teams' }] };
    ok(await as('PUT', `/authz/roles/${role.id}?org=${organization}`, viewTeams));
    const assignment = ok(await as('POST', `/authz/assignments?org=${organization}`, assigned)).body;
    const asked = { name: `${prefix}review`, question: { kind: 'team', team: { id: team.id } } };
    const review = ok(await as('POST', `/authz/reviews?org=${organization}`, asked)).body;
    const { items } = ok(await as('GET', `/authz/reviews/${review.id}?org=${organization}`)).body;
    const contractBody = { name: `${prefix}contract`, product: description };
    const contract = ok(await as('POST', `/orgs/${organization}/contracts`, contractBody)).body;
    const robot = ok(await as('POST', `/orgs/${organization}/robots`, { name: `${prefix}robot`, description })).body;
    const token = ok(await as('POST', `/robots/${robot.id}/tokens`, { name: `${prefix}token` })).body;
    const credential = { name: `${prefix}credential`, type: 'Other', other: { password: description } };
    ok(await as('POST', '/user/credentials', credential));
    const chart = { name: `${prefix}chart`, sourceRef: { name: secret }, version: '1.0.0' };
    const order = ok(
      await as('POST', '/user/deploy/orders', {
        spec: { items: [{ chart: { ...chart, releaseName: secret, namespace: secret } }] },
      }),
    ).body;
    ok(await as('POST', '/user/emails', { emails: [`${prefix}more@mail.example`] }));
    const audit = ok(await as('GET', `/orgs/${organization}/audit?limit=1`)).body;
    return {
      team: String(team.id),
      teamName: `${prefix}team`,
      role: String(role.id),
      guardrail: String(guardrail.id),
      assignment: String(assignment.id),
      review: String(review.id),
      reviewItem: String(items[0]?.id),
      cluster: String(cluster.id),
      clusterName: `${prefix}cluster`,
      uid,
      contract: String(contract.id),
      contractName: `${prefix}contract`,
      robot: String(robot.id),
      robotName: `${prefix}robot`,
      token: `${prefix}token`,
      tokenId: String(token.id),
      credential: `${prefix}credential`,
      order: order.metadata.uid,
      email: `${prefix}more@mail.example`,
      cursor: String(audit.items[0].id),
      object: `cluster:${cluster.id}`,
      chart: `${prefix}chart`,
    };
  }

  async function buildVictim(prefix: string): Promise<Names> {
    const [boss, organization] = [`${prefix}boss`, `${prefix}orga`];
    const id = await person(boss);
    const body = { username: organization, full_name: 'hush name', description: 'hush words', location: 'hush' };
    const made = ok(await atrium.as(boss)('POST', '/orgs', { ...body, visibility: 'private' })).body;
    const things = await ownThings(boss, organization, prefix);
    return { ...things, organization, organizationId: String(made.id), person: boss, personId: String(id) };
  }

  /** All that the victim has, as the victim sees it. */
  async function stateOfVictim(): Promise<unknown> {
    const as = atrium.as('cnryboss');
    const paths = ['', '/teams', '/members', '/clusters', '/contracts', '/robots', '/overview'];
    const own = ['/user/credentials', '/user/deploy/orders', '/user/emails', '/user/teams'];
    const calls = [...paths.map((path) => `/orgs/cnryorga${path}`), '/authz/roles?org=cnryorga', ...own];
    const answers = [];
    for (const path of calls) answers.push([path, ok(await as('GET', path)).body]);
    // Denied attempts of strangers are the only thing that outsiders can add.
    const { body } = ok(await root('GET', '/admin/audit?org=cnryorga&limit=200'));
    answers.push(body.items.filter(({ action }: { action: string }) => !/denied|denial/.test(action)));
    return JSON.parse(JSON.stringify(answers, (key, value) => (key === 'age' ? undefined : value)));
  }
}

/** For each name one of the same length and form that names nothing. */
function likeBut(victim: Names, word: string, digit: string): Names {
  return Object.fromEntries(
    Object.entries(victim).map(([meaning, value]) => [
      meaning,
      value
        .replace('cnry', word)
        .replace(/\b7(\d{6})\b/, `${digit}$1`)
        .replace(/^([0-9a-f]{8}-[0-9a-f]{4})-/, (_all, start: string) => `${turned(start, digit)}-`),
    ]),
  );
}

function turned(hex: string, by: string): string {
  return hex.replace(/[0-9a-f]/g, (digit) => ((Number.parseInt(digit, 16) + Number(by)) % 16).toString(16));
}

function uuidFor(prefix: string): string {
  return `${Buffer.from(prefix.padEnd(8, '.')).toString('hex').slice(0, 8)}-1111-4111-8111-${Buffer.from(prefix.padEnd(6, '.')).toString('hex').slice(0, 12)}`;
}

function ok(answer: Answer): Answer {
  assert.ok(answer.status >= 200 && answer.status < 300, `${answer.status}: ${answer.text}`);
  return answer;
}
