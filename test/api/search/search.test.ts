import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { COUNTS, IS_LONG } from '../../counts.ts';
import { progress } from '../../support/checks/progress.ts';
import { createRandom, SEED } from '../../support/checks/random.ts';
import { openTestServer, type TestServer } from '../../support/server/server.ts';
import { statement } from '../../support/server/statement.ts';
import { createCluster, makeOrganization, makePerson } from '../../support/world/people.ts';

const TYPES = ['people', 'teams', 'roles', 'clusters', 'contracts', 'robots', 'organizations', 'installers'] as const;
type Item = { readonly id: unknown; readonly name: string; readonly title?: string; readonly organization?: string };
type Result = Readonly<Record<(typeof TYPES)[number], readonly Item[]>>;

let atrium: TestServer;
const RANGES = 'src/operations/demo/address-ranges.json';

async function search(as: string, query: string): Promise<Result> {
  const { status, body, text } = await atrium.as(as)('GET', `/search?${query}`);
  assert.equal(status, 200, text);
  return body;
}

const names = (list: readonly Item[]) => list.map(({ name }) => name);

describe('GET /search', () => {
  before(async () => {
    atrium = await openTestServer({ env: { DEPLOYMENT: 'marketplace', CLOUD_A_RANGES: RANGES } });
  });
  after(() => atrium.close());

  it('Clusters are found in the same order, however far apart their IDs are', async () => {
    const ownerId = atrium.world.orgs.acme?.id ?? 0n;
    for (const [name, id] of [
      ['slice-b', 30_001],
      ['far-slice', 20_000],
      ['slice-a', 50_000],
    ] as const) {
      await createCluster(atrium.instance, { ownerId, name, uid: name });
      await atrium.instance.db.query(statement('update cluster set id = $2 where name = $1'), [name, id]);
    }
    assert.deepEqual(names((await search('ann', 'q=slice')).clusters), ['slice-a', 'slice-b', 'far-slice']);
    await atrium.instance.db.query(statement('delete from cluster where id >= 20000'));
  });

  it('What the caller may see is found by any part of its name, by kind, with its organization', async () => {
    const found = await search('ann', 'q=PRO');
    assert.deepEqual(Object.keys(found), [...TYPES]);
    const id = Number(atrium.world.clusters.prod?.id);
    assert.deepEqual(found.clusters, [{ id, name: 'prod', organization: 'acme' }]);
    assert.deepEqual(names((await search('ann', 'q=acm')).organizations), ['acme']);
    assert.deepEqual(names((await search('cat', 'q=operator')).roles), ['cluster-operator']);
    assert.deepEqual(names((await search('cat', 'q=ED')).teams), ['Editors']);
    assert.deepEqual(names((await search('bob', 'q=c')).robots), ['ci']);
    assert.deepEqual(names((await search('bob', 'q=acme&types=contracts')).contracts), ['acme']);
    assert.deepEqual(names((await search('ann', 'q=lapt')).clusters), ['laptop'], 'what she owns herself');
    assert.deepEqual(names((await search('ann', 'q=lapt&org=acme')).clusters), []);
    assert.deepEqual(names((await search('bob', 'q=lapt')).clusters), []);
    assert.deepEqual(names((await search('bob', 'q=ann&org=acme')).people), ['ann']);
  });

  it('What starts with the text comes first, at most 8 of each kind, and only the kinds that are asked for', async () => {
    const { name, id } = await makePerson(atrium);
    const org = await makeOrganization(atrium, name);
    for (const one of [
      'zebra',
      'a-zebra',
      'zebra-2',
      'b-zebra',
      ...Array.from({ length: 8 }, (_, at) => `x-zebra-${at}`),
    ]) {
      await createCluster(atrium.instance, { ownerId: org.id, name: one, uid: crypto.randomUUID() });
    }
    const { clusters } = await search(name, 'q=zebra');
    assert.equal(clusters.length, 8);
    assert.deepEqual(names(clusters).slice(0, 4), ['zebra', 'zebra-2', 'a-zebra', 'b-zebra']);
    const both = await search(name, `q=${name}&types=people,organizations`);
    assert.deepEqual(
      both.people.map((one) => [one.id, one.name]),
      [[Number(id), name]],
    );
    assert.deepEqual((await search(name, 'q=zebra&types=people')).clusters, []);
  });

  it('Wildcards of SQL are plain characters', async () => {
    const { name } = await makePerson(atrium);
    const org = await makeOrganization(atrium, name);
    for (const one of ['ten%', 'ten_', 'tent', 'back\\slash']) {
      await createCluster(atrium.instance, { ownerId: org.id, name: one, uid: crypto.randomUUID() });
    }
    const find = async (text: string) => names((await search(name, `q=${encodeURIComponent(text)}`)).clusters);
    assert.deepEqual(await find('ten%'), ['ten%']);
    assert.deepEqual(await find('ten_'), ['ten_']);
    assert.deepEqual(await find('%'), ['ten%']);
    assert.deepEqual(await find('k\\s'), ['back\\slash']);
    assert.deepEqual((await find('ten')).sort(), ['ten%', 'ten_', 'tent']);
  });

  it('Members find single teams and roles of theirs, and site administrators find everything', async () => {
    const dan = await search('dan', 'q=o');
    assert.deepEqual(names(dan.teams), ['operators']);
    assert.deepEqual(names(dan.roles), ['cluster-operator']);
    assert.deepEqual(names((await search('dan', 'q=ann')).people), []);
    assert.deepEqual(names((await search('dan', 'q=dan')).people), ['dan']);
    const root = await search('root', 'q=globex');
    assert.deepEqual([names(root.organizations), names(root.clusters)], [['globex'], ['globex']]);
    assert.deepEqual(names((await search('root', 'q=eve')).people), ['eve']);
    assert.deepEqual(names((await search('root', 'q=laptop')).clusters), [], "another user's own cluster");
    const { body: installer } = await atrium.as('root')('POST', '/admin/marketplace/installers', {
      marketplace: 'CloudA',
    });
    const part = installer.id.slice(2, 12);
    assert.deepEqual((await search('root', `q=${part}`)).installers, [{ id: installer.id, marketplace: 'CloudA' }]);
    assert.deepEqual((await search('ann', `q=${part}`)).installers, []);
  });

  it('Wrong questions are rejected, and an organization of others like one that does not exist', async () => {
    const refuse = async (query: string, as = 'ann') => {
      const { status, body } = await atrium.as(as)('GET', `/search${query}`);
      return [status, body.message];
    };
    const length = 'query parameter q must have 1 to 64 characters';
    assert.equal((await refuse(''))[0], 400);
    assert.deepEqual(await refuse('?q='), [400, length]);
    assert.deepEqual(await refuse('?q=%20'), [400, length]);
    assert.deepEqual(await refuse(`?q=${'x'.repeat(65)}`), [400, length]);
    assert.match(`${await refuse('?q=a&types=people,things')}`, /^400,types must be some of people, .*; got "things"$/);
    const outsider = [403, 'Must be an organization member'];
    assert.deepEqual(
      [await refuse('?q=a&org=acme', 'eve'), await refuse('?q=a&org=none', 'eve')],
      [outsider, outsider],
    );
    assert.equal((await atrium.as()('GET', '/search?q=a')).status, 401);
  });

  it('A token finds only what its scopes let it read', async () => {
    const accountId = atrium.world.users.ann?.id ?? 0n;
    const { text } = await atrium.instance.identity.tokens.issue({
      accountId,
      name: 'narrow',
      scopes: ['read:organization'],
    });
    const headers = { Authorization: `token ${text}` };
    const { body } = await atrium.call('GET', '/api/v1/search?q=oper', undefined, headers);
    assert.deepEqual([names(body.teams), names(body.roles)], [['operators'], []]);
  });

  it(`${COUNTS.searches} random searches find exactly what may be seen in two organizations, with seed ${SEED}`, async () => {
    const random = createRandom();
    const { db } = atrium.instance;
    const everything = await db.query<{ type: (typeof TYPES)[number]; name: string; title: string; owner: string }>(
      statement(`select 'clusters' as type, c.name, c.display_name as title, o.name as owner from cluster c join account o on o.id = c.owner_id
        union all select 'teams', t.name, '', o.name from team t join account o on o.id = t.organization_id
        union all select 'roles', r.name, '', o.name from role r join account o on o.id = r.organization_id
        union all select 'contracts', x.name, '', o.name from contract x join account o on o.id = x.owner_id
        union all select 'robots', x.name, '', o.name from robot x join account o on o.id = x.owner_id
        union all select 'organizations', o.name, o.full_name, o.name from account o where o.kind = 'organization'`),
    );
    /** By the definition of the demo world: what each sees in which organization. */
    const sees: Readonly<Record<string, (type: string, name: string, owner: string) => boolean>> = {
      ann: (_type, _name, owner) => ['acme', 'ann'].includes(owner),
      cat: (_type, _name, owner) => owner === 'acme',
      eve: (_type, _name, owner) => owner === 'globex',
      dan: (type, name, owner) =>
        owner === 'acme' &&
        (['clusters', 'organizations'].includes(type) || /^(operators|cluster-operator)$/.test(name)),
    };
    for (let round = 0; round < COUNTS.searches; round++) {
      if (IS_LONG && round % 500 === 0) progress(`${round} of ${COUNTS.searches} searches`);
      const who = random.pick(Object.keys(sees));
      const one = random.pick(everything);
      const from = random.below(one.name.length);
      const text = one.name.slice(from, from + 1 + random.below(5)).trim() || one.name;
      const found = await search(who, `q=${encodeURIComponent(text)}`);
      for (const type of TYPES.filter((name) => !['people', 'installers'].includes(name))) {
        const visible = everything.filter(
          ({ type: of, name, title, owner }) =>
            of === type &&
            [name, title].some((one) => one.toLowerCase().includes(text.toLowerCase())) &&
            sees[who]?.(type, name, owner),
        );
        const expected = visible.map(({ name }) => name).sort();
        const got = names(found[type]).toSorted();
        if (expected.length <= 8) assert.deepEqual(got, expected, `${who} ${type} ${text}`);
        else assert.ok(got.length === 8 && got.every((name) => expected.includes(name)), `${who} ${type} ${text}`);
      }
      const strangers = who === 'eve' ? /^(ann|bob|cat|dan)$/ : /^eve$/;
      assert.ok(!names(found.people).some((name) => strangers.test(name)), `${who} people ${text}`);
    }
  });
});
