import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { IS_LONG } from '../../counts.ts';
import { claimsOf, mayHear, openTestBus, type TestBus } from '../../support/services/bus.ts';
import { lacks } from '../../support/services/requirements.ts';
import { assign, openPlace, type Place } from '../../support/world/assignments.ts';

const END_SECONDS = 3;
/** Usually about a second. A machine that is busy with other tests may take longer. */
const REVOKED_WITHIN_MS = IS_LONG ? 5000 : 20_000;

describe('Bus credentials that a role on one cluster gives', { skip: lacks('nats-server') }, () => {
  let bus: TestBus;
  let place: Place;
  let uid: { readonly prod: string; readonly staging: string };
  const user = () => ({ type: 'user', name: place.dan.name });
  const onProd = () => ({ type: 'cluster', id: place.prod.id });

  before(async () => {
    bus = await openTestBus();
    place = await openPlace(bus);
    const clusters: readonly { name: string; uid: string }[] = (
      await place.call('GET', `/orgs/${place.org.name}/clusters`)
    ).body;
    const of = (name: string) => clusters.find((one) => one.name === name)?.uid ?? assert.fail(name);
    uid = { prod: of('prod'), staging: of('staging') };
  });
  after(() => bus.close());

  const refused = async (credentials: string) => {
    try {
      await (await bus.nats.connect(credentials)).close();
      return false;
    } catch (error) {
      assert.match(String(error), /authorization|authentication/i);
      return true;
    }
  };

  it('The subjects follow the assignment, its role and its place, and reach no other cluster', async () => {
    const subjects = async () => {
      const { publish, subscribe } = claimsOf(await bus.credentials(place.dan.name));
      const about = (list: readonly string[]) => list.filter((one) => /^(cluster|history)\./.test(one)).sort();
      return [about(subscribe), about(publish)];
    };
    const all = (of: string) => `cluster.${of}.>`;
    assert.deepEqual(await subjects(), [[], []]);
    const viewer = await place.role('viewer', 'cluster_mgmt view clusters');
    const seen = await assign(place, viewer.id, user(), onProd());
    assert.deepEqual(await subjects(), [[all(uid.prod)], []]);
    const dan = await bus.connect(place.dan.name);
    assert.equal(await mayHear(dan, `cluster.${uid.prod}.x`), true);
    assert.equal(await mayHear(dan, `cluster.${uid.staging}.x`), false);
    const connected = await assign(place, place.operator.id, user(), onProd());
    assert.deepEqual(await subjects(), [[all(uid.prod)], [all(uid.prod)]]);
    const editor = await place.role('editor', 'cluster_mgmt reconfigure clusters');
    const set = await assign(place, editor.id, { type: 'team', id: place.crew }, { type: 'cluster_set', name: 'us' });
    assert.deepEqual(await subjects(), [[all(uid.prod)], [all(uid.prod)]]);
    const moved = await place.call('PATCH', `/clusters/${place.staging.id}`, { clusterSetName: 'us' });
    assert.equal(moved.status, 200, moved.text);
    const both = [all(uid.prod), all(uid.staging)].sort();
    assert.deepEqual(await subjects(), [both, [all(uid.prod), `history.${uid.staging}.>`]]);
    for (const { id } of [seen, connected, set]) await place.call('DELETE', place.at(id));
    assert.deepEqual(await subjects(), [[], []]);
    await dan.closed();
  });

  it('Removing the assignment, or taking the cluster out of its set, revokes them, and no others', async () => {
    const owner = await bus.nats.connect(await bus.credentials(place.owner.name));
    const one = await assign(place, place.operator.id, user(), onProd());
    const first = await bus.connect(place.dan.name);
    assert.equal((await place.call('DELETE', place.at(one.id))).status, 204);
    assert.match(String(await first.closed()), /revoked/i);
    const set = await assign(place, place.operator.id, user(), { type: 'cluster_set', name: 'eu' });
    const credentials = await bus.credentials(place.dan.name);
    const second = await bus.nats.connect(credentials);
    const moved = await place.call('PATCH', `/clusters/${place.prod.id}`, { clusterSetName: '' });
    assert.equal(moved.status, 200, moved.text);
    assert.match(String(await second.closed()), /revoked/i);
    assert.equal(await refused(credentials), true);
    assert.equal(owner.isClosed(), false);
    await owner.close();
    await place.call('DELETE', place.at(set.id));
  });

  it('They are revoked at the second in which the assignment ends, although nobody asks for anything', async () => {
    const end = (Math.ceil(Date.now() / 1000) + END_SECONDS) * 1000;
    const expires_at = new Date(end).toISOString().replace('.000Z', 'Z');
    await assign(place, place.operator.id, user(), onProd(), { expires_at });
    const credentials = await bus.credentials(place.dan.name);
    const connection = await bus.nats.connect(credentials);
    assert.match(String(await connection.closed()), /revoked|expired/i);
    const late = Date.now() - end;
    assert.ok(late >= 0 && late < REVOKED_WITHIN_MS, `revoked ${late} ms after the end`);
    assert.equal(await refused(credentials), true);
    const { subscribe } = claimsOf(await bus.credentials(place.dan.name));
    assert.ok(!subscribe.some((one) => one.startsWith('cluster.')));
  });
});
