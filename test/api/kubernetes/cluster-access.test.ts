import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, describe, it } from 'node:test';
import { parse } from 'yaml';
import { auditOf } from '../../support/checks/audit.ts';
import type { Call } from '../../support/server/server.ts';
import { openTestServer, type TestServer } from '../../support/server/server.ts';
import { CERTIFICATE, type KubePlace, OTHER_CERTIFICATE, openKubePlace } from '../../support/services/kubernetes.ts';
import { assign, type Place } from '../../support/world/assignments.ts';
import { addMember, makePerson } from '../../support/world/people.ts';
import { makeRobot } from '../../support/world/robots.ts';

const SERVER = 'https://prod.example.com:6443';
const KEY = '-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2VwBCIEIA==\n-----END PRIVATE KEY-----\n';

describe('How clusters are reached and governed', () => {
  let atrium: TestServer;
  let place: KubePlace;
  before(async () => {
    atrium = await openTestServer();
    place = await openKubePlace(atrium);
  });
  after(() => atrium.close());

  const at = (id: number, rest = '') => `/clusters/${id}${rest}`;
  async function person(team: string) {
    const made = await makePerson(atrium);
    await addMember(atrium.instance, BigInt(place.org.team(team)), made.id);
    return { ...made, call: atrium.as(made.name) };
  }
  const refused = async (call: Call, id: number, body: object, status: number, reason: string) => {
    const answer = await call('PATCH', at(id), body);
    assert.deepEqual([answer.status, answer.body?.reason], [status, reason], answer.text);
  };

  it('Nothing governs a cluster by default, and members that are left out stay', async () => {
    const { call, staging } = place;
    const { body } = await call('GET', at(staging.id));
    assert.deepEqual([body.caBundle, body.kubernetes, 'reported' in body], ['', { auth: 'none' }, false]);
    const changes = [
      [
        { auth: 'agent', username: 'email', prefix: 'oidc:' },
        { auth: 'agent', username: 'email', prefix: 'oidc:' },
      ],
      [{ prefix: '' }, { auth: 'agent', username: 'email' }],
      [{ username: 'login' }, { auth: 'agent', username: 'login' }],
      [{ auth: 'none' }, { auth: 'none', username: 'login' }],
    ];
    for (const [sent, expected] of changes) {
      const answer = await call('PATCH', at(staging.id), { kubernetes: sent });
      assert.deepEqual([answer.status, answer.body?.kubernetes], [200, expected], answer.text);
    }
    for (const kubernetes of [{ auth: 'rbac' }, { username: 'id' }, { prefix: 5 }, 'webhook']) {
      assert.equal((await call('PATCH', at(staging.id), { kubernetes })).status, 422, JSON.stringify(kubernetes));
    }
  });

  it('Who governs a cluster, and where kubectl sends tokens, needs can_administer (K36, K53)', async () => {
    const { call, prod, staging, org } = place;
    const editor = await person('Editors');
    await refused(editor.call, prod.id, { kubernetes: { auth: 'none' } }, 403, 'missing_relation');
    await refused(editor.call, prod.id, { caBundle: CERTIFICATE }, 403, 'missing_relation');
    await refused(editor.call, prod.id, { endpoint: 'https://evil.example.com' }, 403, 'missing_relation');
    assert.equal((await editor.call('PATCH', at(prod.id), { displayName: 'Production' })).status, 200);
    const fresh = await place.cluster(`fresh${Date.now()}`);
    assert.equal((await editor.call('PATCH', at(fresh.id), { endpoint: 'https://a.example.com' })).status, 200);
    assert.equal((await call('PATCH', at(fresh.id), { caBundle: CERTIFICATE })).status, 200);
    await refused(editor.call, fresh.id, { endpoint: 'https://b.example.com' }, 403, 'missing_relation');
    const imported = { name: `imported${Date.now()}`, uid: crypto.randomUUID(), kubernetes: { auth: 'webhook' } };
    const rejected = await editor.call('POST', `/orgs/${org.name}/clusters`, imported);
    assert.deepEqual([rejected.status, rejected.body.reason], [403, 'missing_relation']);
    const made = await call('POST', `/orgs/${org.name}/clusters`, imported);
    assert.deepEqual([made.status, made.body.kubernetes], [201, { auth: 'webhook' }], made.text);
    await refused(editor.call, staging.id, { kubernetes: { auth: 'agent' } }, 403, 'missing_relation');
    const entries = await auditOf(atrium.instance.db, org.id);
    const after = entries.filter(({ action }) => action === 'cluster.update').map((entry) => entry.after ?? '');
    assert.ok(after.some((text) => text.includes('"sha256:')));
    assert.ok(!after.some((text) => text.includes('BEGIN CERTIFICATE')));
  });

  it('Of a cluster that a user owns, Kubernetes asks nobody (K52)', async () => {
    const owner = await makePerson(atrium);
    const call = atrium.as(owner.name);
    const laptop = await call('POST', '/user/clusters', { name: 'laptop', uid: crypto.randomUUID() });
    await refused(call, laptop.body.id, { kubernetes: { auth: 'webhook' } }, 409, 'kubernetes_auth_off');
    assert.equal((await call('PATCH', at(laptop.body.id), { caBundle: CERTIFICATE })).status, 200);
  });

  it('Certificates are PEM and nothing else, and never with a private key (K55)', async () => {
    const { call, staging } = place;
    const wrong = [KEY, `${CERTIFICATE}${KEY}`, 'nonsense', `${CERTIFICATE}nonsense`, CERTIFICATE.replace(/M/g, '!')];
    const broken = `-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n`;
    for (const caBundle of [...wrong, broken, `${' '.repeat(70_000)}${CERTIFICATE}`]) {
      const answer = await call('PATCH', at(staging.id), { caBundle });
      assert.deepEqual([answer.status, answer.body.errors?.[0].field], [422, 'caBundle'], caBundle.slice(0, 50));
    }
    const both = `${CERTIFICATE.replace(/\n/g, '\r\n')}\n\n${OTHER_CERTIFICATE}`;
    const { body } = await call('PATCH', at(staging.id), { caBundle: both });
    assert.equal(body.caBundle, CERTIFICATE + OTHER_CERTIFICATE);
    assert.equal((await call('PATCH', at(staging.id), { caBundle: '' })).body.caBundle, '');
  });

  it('A report of address and certificates counts while there are none, and later shows what differs (K53)', async () => {
    const { call, org, owner } = place;
    const cluster = await place.cluster(`reporting${Date.now()}`);
    const beat = at(cluster.id, '/heartbeat');
    const sent = { endpoint: SERVER, caBundle: CERTIFICATE, nodeCount: 3 };
    const robot = await makeRobot(atrium, 'beating', { org: org.name, owner: owner.name });
    const no = await robot.call('POST', beat, sent);
    assert.deepEqual([no.status, no.body.reason], [403, 'missing_relation'], no.text);
    assert.equal((await robot.call('POST', beat, { nodeCount: 2 })).status, 204);
    const on = { type: 'cluster', id: cluster.id };
    await assign(place as Place, place.reviewer.id, { type: 'robot_ac', id: robot.id }, on);
    for (const endpoint of ['http://prod.example.com', 'prod.example.com', 'https://x y', 'https://x/"']) {
      assert.equal((await robot.call('POST', beat, { endpoint })).status, 422, endpoint);
    }
    assert.equal((await robot.call('POST', beat, { caBundle: KEY })).status, 422);
    assert.equal((await robot.call('POST', beat, sent)).status, 204);
    const first = (await call('GET', at(cluster.id))).body;
    assert.deepEqual(
      [first.endpoint, first.caBundle, first.nodeCount, first.reported],
      [SERVER, CERTIFICATE, 3, undefined],
    );
    const evil = 'https://evil.example.com';
    for (let times = 0; times < 2; times++) {
      const answer = await robot.call('POST', beat, { endpoint: evil, caBundle: OTHER_CERTIFICATE });
      assert.equal(answer.status, 204);
    }
    const second = (await call('GET', at(cluster.id))).body;
    assert.deepEqual([second.endpoint, second.caBundle], [SERVER, CERTIFICATE]);
    assert.deepEqual(second.reported, { endpoint: evil, caBundle: OTHER_CERTIFICATE });
    const entries = await auditOf(atrium.instance.db, org.id);
    assert.equal(entries.filter(({ action }) => action === 'cluster.report').length, 2);
    const accepted = await call('PATCH', at(cluster.id), second.reported);
    assert.deepEqual([accepted.status, 'reported' in accepted.body], [200, false]);
  });

  it('The kubeconfig has the address, the certificates and a program, and no secret (K54, K55)', async () => {
    const { call, prod, org } = place;
    const none = await call('GET', at(prod.id, '/kubeconfig'));
    assert.deepEqual([none.status, none.body?.reason], [409, 'no_endpoint'], none.text);
    await call('PATCH', at(prod.id), { endpoint: 'http://prod.example.com', caBundle: CERTIFICATE });
    assert.equal((await call('GET', at(prod.id, '/kubeconfig'))).status, 409);
    await call('PATCH', at(prod.id), { endpoint: SERVER });
    const answer = await call('GET', at(prod.id, '/kubeconfig'));
    assert.equal(answer.status, 200, answer.text);
    assert.match(answer.headers.get('content-type') ?? '', /^application\/yaml/);
    const name = `atrium-${org.name}-prod`;
    const file = parse(answer.text);
    assert.equal(file['current-context'], name);
    assert.deepEqual(file.contexts, [{ name, context: { cluster: name, user: name } }]);
    const ca = Buffer.from(CERTIFICATE).toString('base64');
    assert.deepEqual(file.clusters, [{ name, cluster: { server: SERVER, 'certificate-authority-data': ca } }]);
    const { exec } = file.users[0].user;
    assert.deepEqual([exec.command, exec.args], ['atrium', ['kube', 'token', `--cluster=${prod.id}`]]);
    assert.deepEqual([exec.apiVersion, exec.interactiveMode], ['client.authentication.k8s.io/v1', 'IfAvailable']);
    assert.equal((await call('GET', at(prod.id, '/kubeconfig?x=1'))).status, 400);
  });

  it('The kubeconfig needs can_connect, in one namespace at least, or the right to see the configuration', async () => {
    const { prod, dan } = place;
    const call = atrium.as(dan.name);
    const path = at(prod.id, '/kubeconfig');
    assert.equal((await call('GET', path)).status, 404);
    const cases: [string, number, object][] = [
      ['view clusters', 403, {}],
      ['reconfigure clusters', 403, {}],
      ['connect to clusters', 200, {}],
      ['connect to clusters', 200, { namespaces: ['web'] }],
      ['view orchestrator configuration', 200, {}],
    ];
    for (const [place_, [action, status, more]] of cases.entries()) {
      const role = await place.role(`file-${place_}`, `cluster_mgmt ${action}`);
      const to = { type: 'user', id: Number(dan.id) };
      const made = await assign(place as Place, role.id, to, { type: 'cluster', id: prod.id }, more);
      assert.equal((await call('GET', path)).status, status, action);
      await place.call('DELETE', place.at(made.id));
    }
  });

  it('Every row of the table of verbs is in the documentation, and no other', async () => {
    const { VERB_TABLE, PROTECTED_NAMESPACES, OPEN_PATHS } = await import('../../../src/kubernetes/verb-table.ts');
    const page = readFileSync('docs/kubernetes.md', 'utf8');
    const rows = page.split('\n').filter((line) => /^\| `can_\w+` \|/.test(line) && line.split('|').length === 7);
    const code = (texts: readonly string[]) => texts.map((one) => `\`${one === '' ? 'core' : one}\``).join(', ');
    const expected = VERB_TABLE.map(
      ({ relation, what, resources, groups, verbs, where }) =>
        `| \`${relation}\` | ${what} | ${code(resources)}${groups ? ` of ${code(groups)}` : ''} | ${code(verbs)} | ${where ?? 'anywhere'} |`,
    );
    assert.deepEqual(rows, expected);
    for (const one of [...PROTECTED_NAMESPACES, ...OPEN_PATHS]) assert.ok(page.includes(`\`${one}\``), one);
  });
});
