import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { sql } from '../../../src/db/db.ts';
import { openTestServer, type TestServer } from '../../support/server/server.ts';
import { type KubePlace, openKubePlace } from '../../support/services/kubernetes.ts';
import { assign } from '../../support/world/assignments.ts';
import { addMember, makePerson } from '../../support/world/people.ts';

const VERIFIED = sql('test.verified', 'select 1 from email where account_id = $1 and is_primary and verified');
const VERIFY = sql('test.verify', 'update email set verified = true where account_id = $1 and is_primary');

interface Binding {
  readonly user: string;
  readonly relation: string;
  readonly namespaces: string[] | null;
  readonly expires_at: string | null;
}

describe('GET /clusters/{id}/bindings', () => {
  let atrium: TestServer;
  let place: KubePlace;
  before(async () => {
    atrium = await openTestServer();
    place = await openKubePlace(atrium);
  });
  after(() => atrium.close());

  const path = () => `/clusters/${place.prod.id}/bindings`;
  const govern = async (kubernetes: object) => {
    const answer = await place.call('PATCH', `/clusters/${place.prod.id}`, { kubernetes });
    assert.equal(answer.status, 200, answer.text);
  };
  const to = (id: bigint) => ({ type: 'user', id: Number(id) });
  const prod = () => ({ type: 'cluster', id: place.prod.id });
  async function bindings(): Promise<{ revision: number; bindings: Binding[] }> {
    const answer = await place.api('GET', path());
    assert.equal(answer.status, 200, answer.text);
    return answer.body;
  }
  const of = async (user: string) =>
    (await bindings()).bindings
      .filter((one) => one.user === user)
      .map(({ relation, namespaces, expires_at: end }) => [relation, namespaces, end]);

  it('There are none unless an agent governs the cluster', async () => {
    assert.deepEqual((await bindings()).bindings, []);
    await govern({ auth: 'agent' });
    const found = await bindings();
    assert.ok(found.bindings.length > 0);
    assert.deepEqual(await bindings(), found);
  });

  it('Everybody has what they hold in the whole cluster and in namespaces, until it ends', async () => {
    const { owner, dan, org } = place;
    const all = ['can_view', 'can_connect', 'can_edit', 'can_administer'];
    assert.deepEqual(
      await of(owner.name),
      all.map((relation) => [relation, null, null]),
    );
    assert.deepEqual(await of(dan.name), []);
    const role = await place.role('connector', 'cluster_mgmt connect to clusters');
    const soon = '2030-01-01T00:00:00Z';
    const late = '2031-01-01T00:00:00Z';
    const some = { namespaces: ['web', 'shop-*'], expires_at: soon };
    await assign(place, role.id, to(dan.id), prod(), some);
    assert.deepEqual(await of(dan.name), [
      ['can_view', ['web', 'shop-*'], soon],
      ['can_connect', ['web', 'shop-*'], soon],
    ]);
    await assign(place, role.id, to(dan.id), { type: 'cluster_set', name: 'eu' }, { expires_at: late });
    assert.deepEqual((await of(dan.name)).slice(0, 2), [
      ['can_view', null, late],
      ['can_connect', null, late],
    ]);
    const viewers = await place.role('viewers', 'cluster_mgmt view clusters');
    await assign(place, viewers.id, to(dan.id));
    assert.deepEqual((await of(dan.name)).slice(0, 2), [
      ['can_view', null, null],
      ['can_connect', null, late],
    ]);
    const robot = await assign(place, role.id, { type: 'robot_ac', id: place.robot }, prod());
    assert.deepEqual(await of(`${org.name}/deploy`), [
      ['can_view', null, null],
      ['can_connect', null, null],
    ]);
    await place.call('DELETE', place.at(robot.id));
    assert.deepEqual(await of(`${org.name}/deploy`), []);
  });

  it('Users are called by login or by verified address, with a prefix; those without one are left out (K57)', async () => {
    await govern({ auth: 'agent', prefix: 'atrium:' });
    assert.equal((await of(`atrium:${place.owner.name}`)).length, 4);
    await govern({ username: 'email' });
    const sent = await atrium.instance.db.query(VERIFIED, [place.owner.id]);
    assert.equal((await of(`atrium:${place.owner.name}@example.com`)).length, sent.length > 0 ? 4 : 0);
    await atrium.instance.db.query(VERIFY, [place.owner.id]);
    // A write that everybody hears of.
    await govern({ prefix: 'mail:' });
    assert.equal((await of(`mail:${place.owner.name}@example.com`)).length, 4);
    assert.ok((await bindings()).bindings.every(({ user }) => user.includes('@')));
    assert.deepEqual(await of(`atrium:${place.owner.name}`), []);
    await govern({ username: 'login', prefix: '' });
  });

  it('Site administrators have what memberships give them, and deactivated users nothing', async () => {
    const admin = await makePerson(atrium, { isAdmin: true });
    assert.deepEqual(await of(admin.name), []);
    await addMember(atrium.instance, BigInt(place.org.team('Viewers')), admin.id);
    assert.deepEqual(await of(admin.name), [
      ['can_view', null, null],
      ['can_connect', null, null],
    ]);
    await atrium.as('root')('PATCH', `/admin/users/${admin.name}`, { active: false });
    assert.deepEqual(await of(admin.name), []);
  });

  it('An agent that has the latest bindings gets 304 until something changes that concerns its cluster', async () => {
    const { call, dan, prod: cluster } = place;
    const asked = async (etag: string) => {
      const answer = await fetch(`${atrium.url}/api/v1${path()}`, {
        headers: { Authorization: `token ${place.robotAccount.text}`, 'If-None-Match': etag },
      });
      return [answer.status, answer.headers.get('etag') ?? '', (await answer.text()).length > 0] as const;
    };
    const [first, etag, hasText] = await asked('"other"');
    assert.deepEqual([first, hasText], [200, true]);
    assert.deepEqual(await asked(etag), [304, etag, false]);
    // A write of somebody else.
    await makePerson(atrium);
    assert.deepEqual(await asked(`W/${etag}`), [304, etag, false]);
    // A write here that gives nobody anything.
    await call('PATCH', `/clusters/${cluster.id}`, { description: 'new' });
    assert.deepEqual(await asked(etag), [304, etag, false]);
    const role = await place.role('etag', 'cluster_mgmt reconfigure clusters');
    const made = await assign(place, role.id, to(dan.id), prod(), { expires_at: '2032-01-01T00:00:00Z' });
    assert.equal((await asked(etag))[0], 200);
    await call('DELETE', place.at(made.id));
    assert.deepEqual(await asked(etag), [304, etag, false]);
  });

  it('Only robots that may review the cluster are told', async () => {
    const answer = await place.call('GET', path());
    assert.deepEqual([answer.status, answer.body.reason], [403, 'not_for_people']);
    assert.equal((await place.api('GET', `/clusters/${place.staging.id}/bindings`)).status, 404);
    assert.equal((await place.api('GET', `${path()}?at=now`)).status, 400);
  });
});
