import assert from 'node:assert/strict';
import { it } from 'node:test';
import { createRandom, SEED } from '../../support/checks/random.ts';
import { openTestServer } from '../../support/server/server.ts';
import { accessReview, openKubePlace } from '../../support/services/kubernetes.ts';
import { addMember, makePerson } from '../../support/world/people.ts';

const REVIEWS = 400;
const LEVELS = ['can_view', 'can_connect', 'can_edit', 'can_administer'];
const READ = ['get', 'list', 'watch'];
const WRITE = ['create', 'update', 'patch', 'delete', 'deletecollection'];
const CORE_GROUPS = ['', 'apps', 'example.com', 'rbac.authorization.k8s.io', 'certificates.k8s.io'];
const SYSTEM = ['kube-system', 'kube-public', 'kube-node-lease', 'atrium-system'];

interface Asked {
  verb: string;
  group: string;
  resource: string;
  subresource: string;
  namespace: string;
  name: string;
}

/** The contract once more, as plain conditions from its text, without the table: the least relation that is enough. */
function leastFor({ verb, group, resource, subresource, namespace }: Asked): string {
  const known = [...READ, ...WRITE].includes(verb);
  const isInside = namespace !== '' && resource !== 'namespaces';
  const isGuarded = /^(rbac\.authorization|admissionregistration|apiextensions|apiregistration|certificates)\.k8s\.io$/;
  const full = subresource === '' ? resource : `${resource}/${subresource}`;
  if (!known || [verb, group, resource, subresource].some((text) => text.includes('*'))) return 'can_administer';
  if (['serviceaccounts/token', 'bindings', 'pods/binding'].includes(full)) return 'can_administer';
  const ofEverything = ['status', 'scale'].includes(subresource);
  const ofPods = ['log', 'exec', 'attach', 'portforward', 'proxy', 'eviction', 'ephemeralcontainers', 'resize'];
  const ofCore = group === '' && ((resource === 'pods' && ofPods.includes(subresource)) || full === 'services/proxy');
  if (subresource !== '' && !ofEverything && !ofCore) return 'can_administer';
  if (resource === 'nodes' && subresource !== '' && subresource !== 'status') return 'can_administer';
  if (resource === 'namespaces' && subresource === 'scale') return 'can_administer';
  const isWrite = WRITE.includes(verb);
  if (isWrite && resource.startsWith('selfsubject') && verb === 'create' && !isInside) return 'can_view';
  if ((isGuarded.test(group) || ['nodes', 'namespaces'].includes(resource)) && isWrite) return 'can_administer';
  let least = 'can_edit';
  if (resource === 'secrets') least = 'can_edit';
  else if (subresource === '' && !isWrite) least = 'can_view';
  else if (ofEverything && verb === 'get') least = 'can_view';
  else if (full === 'pods/log' && verb === 'get') least = 'can_connect';
  else if (/^pods\/(exec|attach|portforward)$/.test(full) && ['get', 'create'].includes(verb)) least = 'can_connect';
  else if (full === 'services/proxy' && verb !== 'deletecollection') least = 'can_connect';
  if (!isInside && least === 'can_edit' && !(resource === 'secrets' && !isWrite)) return 'can_administer';
  if (['nodes', 'namespaces'].includes(resource) && least !== 'can_view') return 'can_administer';
  return SYSTEM.includes(namespace) && least !== 'can_view' ? 'can_administer' : least;
}

it(`${REVIEWS} random reviews are what allowed-permissions and the contract say, with seed ${SEED}`, async (t) => {
  const atrium = await openTestServer({ env: { RATE_LIMIT: '0' } });
  t.after(() => atrium.close());
  const place = await openKubePlace(atrium);
  const random = createRandom(SEED);
  const on = [{ type: 'cluster', id: place.prod.id }, { type: 'cluster_set', name: 'eu' }, { type: 'organization' }];
  const actions = ['view clusters', 'connect to clusters', 'reconfigure clusters', 'administer clusters'];
  const roles = await Promise.all(actions.map((action, at) => place.role(`level-${at}`, `cluster_mgmt ${action}`)));
  const people: string[] = [place.owner.name];
  for (let count = 0; count < 8; count++) {
    const person = await makePerson(atrium);
    await addMember(atrium.instance, BigInt(place.crew), person.id);
    people.push(person.name);
    for (let some = random.below(3); some > 0; some--) {
      const where = random.pick(on);
      const more =
        where.type !== 'organization' && random.below(2) === 0
          ? { namespaces: [random.pick(['web', 'shop-*', 'kube-system'])] }
          : {};
      const made = await place.call('POST', place.path, {
        role: { id: random.pick(roles).id },
        to: { type: 'user', id: Number(person.id) },
        ...(where.type !== 'organization' && { on: where }),
        ...more,
      });
      assert.ok([201, 409].includes(made.status), made.text);
    }
  }
  let [yes, no] = [0, 0];
  for (let count = 0; count < REVIEWS; count++) {
    const asked: Asked = {
      verb: random.pick([...READ, ...READ, ...WRITE, 'impersonate', 'bind', '*', 'use']),
      group: random.pick(['', '', '', ...CORE_GROUPS]),
      resource: random.pick([
        'pods',
        'pods',
        'secrets',
        'services',
        'nodes',
        'namespaces',
        'serviceaccounts',
        'widgets',
        'bindings',
        '*',
      ]),
      subresource: random.pick([
        '',
        '',
        '',
        '',
        'status',
        'scale',
        'log',
        'exec',
        'proxy',
        'token',
        'binding',
        'eviction',
        'other',
      ]),
      namespace: random.pick(['', 'web', 'shop-eu', 'other', 'kube-system']),
      name: '',
    };
    if (asked.resource === 'namespaces') asked.name = asked.namespace;
    const user = random.pick(people);
    const expected = await isExpected(user, asked);
    const { allowed } = await accessReview(place, { user, resourceAttributes: asked });
    assert.equal(allowed, expected, `${user}: ${JSON.stringify(asked)}`);
    if (expected) yes++;
    else no++;
  }
  assert.ok(yes > REVIEWS / 10 && no > REVIEWS / 10, `${yes} yes, ${no} no`);

  async function isExpected(user: string, asked: Asked): Promise<boolean> {
    const { verb, resource, subresource, namespace, name } = asked;
    const isItself = resource === 'namespaces' && verb === 'get' && subresource === '' && name !== '';
    const least = isItself ? 'can_view' : leastFor(asked);
    const isInside = isItself || (namespace !== '' && resource !== 'namespaces' && verb !== 'impersonate');
    const held = await relationsOf(user, isInside ? namespace : undefined);
    const enough = LEVELS.slice(LEVELS.indexOf(least));
    return enough.some((relation) => held.includes(relation));
  }

  /** Without a namespace, `can_view` may come from a role in one: a name that no role has tells. */
  async function relationsOf(user: string, namespace = 'nowhere-at-all'): Promise<string[]> {
    const path = `/authz/objects/cluster/${place.prod.id}/allowed-permissions?org=${place.org.name}&namespace=${namespace}`;
    return (await atrium.as(user)('GET', path)).body.allowedPermissions;
  }
});
