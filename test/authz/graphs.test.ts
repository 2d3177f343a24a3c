import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, describe, it } from 'node:test';
import { allowed, createGraph, type Graph, type Model, readModel } from '../../packages/rebac/src/rebac.ts';
import { createGraphStore } from '../../src/authz/graphs.store.ts';
import { createGraphs, type Graphs, type GraphTuple } from '../../src/authz/graphs.ts';
import type { ChangeKind } from '../../src/changes/object-kinds.ts';
import { createRevisionStore } from '../../src/changes/revision.store.ts';
import { createRevisions, type Moment, type Revisions } from '../../src/changes/revision.ts';
import { type Db, sql } from '../../src/db/db.ts';
import { CATALOG } from '../../src/roles/catalog.ts';
import { COUNTS } from '../counts.ts';
import { DRIVERS } from '../support/server/db.ts';
import { openTestServer, type TestServer } from '../support/server/server.ts';
import { addMember, createCluster, createTeam, removeMember } from '../support/world/people.ts';

const NAMES = sql('test.names', 'select distinct object_type as type, object_id as id from tuple where store = $1');

const CROWD = sql(
  'test.graphCrowd',
  `with made as (insert into account (kind, name) select 'user', 'crowd' || n from generate_series(1, 4501) n returning id)
   insert into team_member (team_id, account_id) select $1, id from made`,
);

for (const driver of DRIVERS) {
  describe(`Account graphs on ${driver}`, () => {
    let atrium: TestServer;
    let model: Model;
    let seed = 20250714;
    before(async () => {
      atrium = await openTestServer({ driver });
      model = await readModel(readFileSync('src/authz/platform.fga', 'utf8'));
    });
    after(() => atrium.close());

    const random = (below: number) => {
      seed = (seed * 48271) % 2147483647;
      return seed % below;
    };
    const pick = <T>(from: readonly T[]): T => from[random(from.length)] as T;

    /** Graphs as a replica keeps them: updated only by changes. */
    function openReplica(maxBytes = 1 << 20): {
      graphs: Graphs;
      revisions: Revisions;
      loads: () => number;
      patches: () => number;
    } {
      const revisions = createRevisions({ ...createRevisionStore(atrium.instance.db), onlyWriter: false });
      const counts = { load: 0, patch: 0 };
      const store = createGraphStore(atrium.instance.db);
      const counted = {
        load(id: bigint) {
          counts.load++;
          return store.load(id);
        },
        patch(id: bigint, since: Moment, kinds: ReadonlySet<ChangeKind>) {
          counts.patch++;
          return store.patch(id, since, kinds);
        },
      };
      return {
        graphs: createGraphs(counted, revisions, model, maxBytes),
        revisions,
        loads: () => counts.load,
        patches: () => counts.patch,
      };
    }

    /** Every relation of every user on every object of the account. */
    async function everything(db: Db, graph: Graph, accountId: bigint): Promise<string> {
      const objects = await db.query<{ type: string; id: string }>(NAMES, [accountId]);
      const names = objects.map(({ type, id }) => `${type}:${id}`).sort();
      const people = Object.values(atrium.world.users).slice(0, 12);
      return people
        .flatMap(({ id }) => names.map((name) => `${id} ${name} ${allowed(graph, `user:${id}`, name)}`))
        .join('\n');
    }

    const acme = () => atrium.world.orgs.acme ?? { id: 0n, teams: {}, roles: {} };

    /** Makes one random change that affects who may do what. */
    async function changeSomething(): Promise<void> {
      const { instance } = atrium;
      const { roles, users } = instance.features;
      const actor = { id: atrium.world.users.ann?.id ?? 0n, name: 'ann', requestId: 'test' };
      const setting = { organizationId: acme().id, actor };
      const teams = Object.values(acme().teams);
      const draft = () => ({
        permissions: CATALOG.filter(() => random(4) === 0),
        teamIds: teams.filter(() => random(2) === 0),
      });
      const known = await roles.list(acme().id);
      const member = atrium.world.users[pick(['bob', 'cat', 'dan', 'eve', 'fan01'])]?.id ?? 0n;
      switch (random(7)) {
        case 0:
          await roles.create(setting, { name: `random ${Date.now()} ${random(1e9)}`, ...draft() });
          break;
        case 1:
        case 2:
          await roles.update(setting, pick(known).id, draft(), () => undefined);
          break;
        case 3:
          if (known.length > 2) await roles.remove(setting, pick(known).id, () => undefined);
          break;
        case 4:
          await addMember(instance, pick(teams), member);
          break;
        case 5:
          await removeMember(instance, pick(teams), member).catch(() => undefined);
          break;
        case 6: {
          const name = `c${random(1e9)}`;
          if (random(4) === 0) await users.create({ name, email: `${name}@example.com`, isAdmin: random(2) === 0 });
          else if (random(3) === 0) {
            const team = {
              organizationId: acme().id,
              name,
              permission: pick(['none', 'read', 'write', 'admin'] as const),
            };
            acme().teams[name] = await createTeam(instance, team);
          } else await createCluster(instance, { ownerId: acme().id, name, uid: name });
        }
      }
    }

    /** Like changeSomething, but repeats it until something has changed. */
    async function changeForSure(): Promise<void> {
      const revision = async () => {
        await atrium.instance.revisions.current();
        return atrium.instance.revisions.latest;
      };
      const before = await revision();
      while ((await revision()) === before) await changeSomething();
    }

    it(`A patch contains what changed, whatever was known to have changed on ${driver}`, async () => {
      const store = createGraphStore(atrium.instance.db);
      const since = await store.load(acme().id);
      await createCluster(atrium.instance, { ownerId: acme().id, name: `known${driver}`, uid: `known${driver}` });
      await createTeam(atrium.instance, { organizationId: acme().id, name: `known${driver}`, permission: 'read' });
      const known: readonly (readonly ChangeKind[])[] = [
        [],
        ['role'],
        ['team'],
        ['cluster', 'team'],
        ['team', 'cluster'],
      ];
      const [first, ...others] = await Promise.all(known.map((kinds) => store.patch(acme().id, since, new Set(kinds))));
      const kinds = new Set(first?.sources.map((source) => source.split(':')[0]));
      assert.ok(kinds.has('cluster') && kinds.has('team'));
      for (const other of others) assert.deepEqual(other, first);
    });

    it(`A patched graph answers like a newly loaded one on ${driver}`, async () => {
      const { graphs, revisions, loads, patches } = openReplica();
      const store = createGraphStore(atrium.instance.db);
      for (let round = 0; round < COUNTS.graphRounds; round++) {
        await changeForSure();
        for (let changes = random(3); changes > 0; changes--) await changeSomething();
        await revisions.current();
        const patched = await graphs.of(acme().id);
        const fresh = createGraph(model, (await store.load(acme().id)).tuples);
        assert.equal(patched.size, fresh.size);
        const { db } = atrium.instance;
        assert.equal(await everything(db, patched, acme().id), await everything(db, fresh, acme().id));
      }
      assert.equal(loads(), 1);
      assert.ok(patches() > COUNTS.graphRounds / 2, `${patches()} patches`);
    });

    it(`Graphs beyond the memory budget are evicted and reloaded, and answer correctly, on ${driver}`, async () => {
      const { graphs, revisions, loads } = openReplica(1);
      const { globex } = atrium.world.orgs;
      const person = atrium.world.users.ann?.id ?? 0n;
      for (let round = 0; round < COUNTS.evictionRounds; round++) {
        await changeSomething();
        await revisions.current();
        for (const id of [acme().id, globex?.id ?? 0n]) {
          const { db } = atrium.instance;
          const fresh = await openReplica().graphs.of(id);
          assert.equal(await everything(db, await graphs.of(id), id), await everything(db, fresh, id));
          assert.equal(graphs.count(), 1);
        }
        const sizes = await graphs.together(acme().id, person, (one, other) => [one.size > 40, other.size > 0]);
        assert.deepEqual(sizes, [true, true]);
      }
      assert.ok(loads() >= 3 * COUNTS.evictionRounds);
    });

    it(`Graphs that fit in the shared memory budget stay cached on ${driver}`, async () => {
      const { graphs, revisions, loads } = openReplica();
      for (let round = 0; round < 3; round++) {
        await revisions.current();
        for (const { id } of Object.values(atrium.world.orgs)) await graphs.of(id);
      }
      assert.deepEqual([graphs.count(), loads()], [2, 2]);
      assert.ok(graphs.bytes() > 0);
    });

    it(`A graph is reloaded when the changes it missed were pruned on ${driver}`, async () => {
      const { graphs, revisions, loads } = openReplica();
      await revisions.current();
      await graphs.of(acme().id);
      await changeForSure();
      await atrium.instance.revisions.prune(0n);
      await revisions.current();
      const { db } = atrium.instance;
      const after = await everything(db, await graphs.of(acme().id), acme().id);
      assert.equal(after, await everything(db, await openReplica().graphs.of(acme().id), acme().id));
      assert.equal(loads(), 2);
      // Also if only the graph is behind: the revision was read, and the changes were pruned before the graph was
      // requested.
      await changeForSure();
      await revisions.current();
      await atrium.instance.revisions.prune(0n);
      const later = await everything(db, await graphs.of(acme().id), acme().id);
      assert.equal(later, await everything(db, await openReplica().graphs.of(acme().id), acme().id));
    });

    it(`A revocation while a graph is being built is seen by every request after it on ${driver}`, async () => {
      const { instance, world } = atrium;
      const viewers = acme().teams.Viewers ?? 0n;
      const person = world.users.fan02?.id ?? 0n;
      await addMember(instance, viewers, person);
      const revisions = createRevisions({ ...createRevisionStore(instance.db), onlyWriter: false });
      const store = createGraphStore(instance.db);
      const views = (graph: Graph) =>
        allowed(graph, `user:${person}`, `organization:${acme().id}`, { prefix: 'can_view' }).length > 0;
      let isBuilt = false;
      let later: Promise<boolean> | undefined;
      let loads = 0;
      const graphs = createGraphs(
        {
          ...store,
          // The first load does not end before the membership is revoked and somebody has asked again.
          load: async (id) => {
            const { tuples, ...rest } = await store.load(id);
            return { ...rest, tuples: loads++ > 0 ? tuples : slowly([...tuples]) };
          },
        },
        revisions,
        model,
        1 << 20,
      );
      function* slowly(tuples: readonly GraphTuple[]): Generator<GraphTuple> {
        yield* tuples;
        void revoke();
        // Not admitted by the model, so it changes nothing but takes time.
        while (later === undefined) yield { object: 'nothing:1', relation: 'none', user: 'user:1', source: 'none' };
      }
      async function revoke(): Promise<void> {
        await removeMember(instance, viewers, person);
        await revisions.current();
        assert.equal(graphs.now(acme().id), undefined);
        assert.equal(graphs.togetherNow(acme().id, person), undefined);
        assert.equal(isBuilt, false);
        later = graphs.of(acme().id).then(views);
      }
      await revisions.current();
      const earlier = await graphs.of(acme().id).then(views);
      isBuilt = true;
      assert.equal(earlier, true);
      assert.equal(await later, false);
      assert.equal(loads, 1);
    });

    it(`A change of thousands of tuples replaces the graph instead of patching it on ${driver}`, async () => {
      const { graphs, revisions, loads } = openReplica();
      const { db } = atrium.instance;
      await revisions.current();
      const before = await graphs.of(acme().id);
      const { size } = before;
      const team = await createTeam(atrium.instance, { organizationId: acme().id, name: 'crowd', permission: 'none' });
      await revisions.write(async (query, touch) => {
        await query(CROWD, [team]);
        touch({ kind: 'team', id: team, organizationId: acme().id });
      });
      await revisions.current();
      const after = await graphs.of(acme().id);
      assert.notEqual(after, before);
      assert.equal(before.size, size);
      assert.ok(after.size > size + 4500);
      assert.equal(loads(), 2);
      const fresh = createGraph(model, (await createGraphStore(db).load(acme().id)).tuples);
      assert.equal(after.size, fresh.size);
      assert.equal(await everything(db, after, acme().id), await everything(db, fresh, acme().id));
      await changeForSure();
      await revisions.current();
      assert.equal(await graphs.of(acme().id), after);
    });

    it(`The graphs of two accounts are read at the same revision during concurrent writes on ${driver}`, async () => {
      // With its own revisions, which on PGlite assume that they are the only writer and make no query.
      const revisions = createRevisions(createRevisionStore(atrium.instance.db));
      const graphs = createGraphs(createGraphStore(atrium.instance.db), revisions, model, 1 << 20);
      const clusters = sql('test.pairs', 'select count(*)::integer as count from cluster where owner_id = $1');
      const [one, other] = [acme().id, atrium.world.orgs.globex?.id ?? 0n];
      const insert = sql('test.pair', `insert into cluster (owner_id, name, uid) values ($1, $2, $3) returning id`);
      const count = async (id: bigint) =>
        (await atrium.instance.db.query<{ count: number }>(clusters, [id]))[0]?.count ?? 0;
      const ahead = (await count(one)) - (await count(other));
      let isOver = false;
      const writing = (async () => {
        for (let pair = 0; pair < COUNTS.pairedWrites; pair++) {
          await revisions.write(async (query, touch) => {
            for (const organizationId of [one, other]) {
              const name = `pair-${organizationId}-${pair}`;
              const [row] = await query<{ id: bigint }>(insert, [organizationId, name, name]);
              touch({ kind: 'cluster', id: row?.id ?? 0n, organizationId });
            }
          });
        }
        isOver = true;
      })();
      const clustersIn = (graph: Graph) => [...graph.sources].filter((source) => source.startsWith('cluster:')).length;
      while (!isOver) {
        await revisions.current();
        const gap = await graphs.together(one, other, (a, b) => clustersIn(a) - clustersIn(b));
        assert.equal(gap, ahead);
      }
      await writing;
    });
  });
}
