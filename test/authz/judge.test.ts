import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { before, describe, it } from 'node:test';
import { createGraph, type Model, readModel } from '../../packages/rebac/src/rebac.ts';
import { createAnswerCache } from '../../src/authz/answer-cache.ts';
import { createEscalationGuard, heldBy, rejectEscalation } from '../../src/authz/escalation.ts';
import { createGraphs, type Graphs } from '../../src/authz/graphs.ts';
import { createJudge, type Judge } from '../../src/authz/judge.ts';
import { createObjects, readObjectType } from '../../src/authz/objects.ts';
import { createRelations } from '../../src/authz/relations.ts';
import { viewpointOf } from '../../src/authz/viewpoint.ts';
import { createVisibleClusters } from '../../src/authz/visible-clusters.ts';
import type { AppError } from '../../src/base/errors.ts';
import { toPerson } from '../../src/identity/person.rows.ts';
import { personRow, STILL } from '../support/world/caller-store.ts';

const [ANN, BOB, CAT, DAN, EVE, ROOT] = [1n, 2n, 3n, 4n, 5n, 9n];
const [ACME, GLOBEX] = [20n, 21n];
/** Tuples of each account: an organization with its teams, or what a user owns. */
const WORLD = new Map([
  [
    ACME,
    `platform:1 admin user:9
     organization:20 platform platform:1
     organization:20 owner team:1#member
     organization:20 participant team:1#member
     team:1 owned_by organization:20
     team:1 member user:1
     team:1 kept user:*
     organization:20 editor team:2#member
     team:2 organization organization:20
     team:2 member user:2
     organization:20 viewer team:3#member
     team:3 organization organization:20
     team:3 member user:3
     organization:20 participant team:4#member
     team:4 organization organization:20
     team:4 member user:4
     role:7 organization organization:20
     role:7 assignee team:4#member
     organization:20 can_connect_clusters role:7#assignee
     cluster:100 organization organization:20
     cluster:101 organization organization:20`,
  ],
  [
    GLOBEX,
    `platform:1 admin user:9
     organization:21 platform platform:1
     organization:21 owner team:5#member
     team:5 owned_by organization:21
     team:5 member user:5
     cluster:99 organization organization:21`,
  ],
  [ANN, 'cluster:102 owner user:1'],
  [EVE, 'cluster:90 owner user:5'],
]);
const person = (id: bigint, isAdmin = false) => toPerson(personRow({ id, name: `user${id}`, is_admin: isAdmin }));
const cluster = (id: bigint) => ({ type: 'cluster', id }) as const;
const organization = { type: 'organization', id: ACME } as const;

describe('Decisions', () => {
  let model: Model;
  let graphs: Graphs;
  let judge: Judge;
  before(async () => {
    model = await readModel(readFileSync('src/authz/platform.fga', 'utf8'));
    const load = async (account: bigint) => {
      const lines = (WORLD.get(account) ?? '').split('\n').filter((line) => line !== '');
      const tuples = lines.map((line) => {
        const [object = '', relation = '', user = ''] = line.trim().split(' ');
        return { object, relation, user, source: object };
      });
      return { revision: 1n, stamp: '', count: tuples.length, tuples };
    };
    const patch = () => assert.fail('nothing changes');
    graphs = createGraphs({ load, patch }, STILL, model, 1 << 20);
    judge = createJudge(graphs);
  });
  const allowed = async (who: bigint, ...objects: Parameters<Judge['allowed']>[2][number][]) =>
    await judge.allowed(who, ACME, objects);

  it('Each object of a batch has its own answer, in the order of the model, first and later', async () => {
    const teams = [{ type: 'team', id: 1n } as const, { type: 'team', id: 2n } as const];
    const expected = [['can_view'], ['can_view']];
    assert.ok(judge.allowed(CAT, ACME, teams) instanceof Promise);
    assert.deepEqual(await allowed(CAT, ...teams), expected);
    assert.deepEqual(judge.allowed(CAT, ACME, teams), expected, 'without a promise');
    assert.deepEqual(await allowed(ANN, ...teams), [
      ['can_view', 'can_edit', 'can_add_member'],
      ['can_view', 'can_edit', 'can_delete', 'can_add_member', 'can_remove_member'],
    ]);
    assert.deepEqual(await allowed(EVE, ...teams), [[], []]);
  });

  it('What users own themselves is theirs, in every organization, and of nobody else', async () => {
    const all = [
      'can_view',
      'can_edit',
      'can_remove',
      'can_connect',
      'can_view_orchestratorconfig',
      'can_administer',
      'can_review',
    ];
    for (let time = 0; time < 2; time++) {
      assert.deepEqual(await allowed(ANN, cluster(102n), cluster(100n), cluster(90n)), [all, all, []]);
      assert.deepEqual(await allowed(EVE, cluster(102n), cluster(90n), cluster(100n)), [[], all, []]);
      assert.deepEqual(await allowed(DAN, cluster(100n)), [['can_view', 'can_connect']]);
    }
    assert.ok(Array.isArray(judge.allowed(DAN, ACME, [cluster(100n)])), 'without a promise');
  });

  it('A relation is held or not, and the objects on which it is held are listed', async () => {
    assert.equal(await judge.holds(BOB, ACME, 'can_edit', organization), true);
    assert.equal(await judge.holds(CAT, ACME, 'can_edit', organization), false);
    assert.deepEqual((await judge.objects(CAT, ACME, 'can_view', 'cluster')).sort(), [100n, 101n]);
    assert.deepEqual(await judge.objects(EVE, ACME, 'can_view', 'cluster'), []);
    assert.equal((await judge.objects(CAT, ACME, 'can_view', 'cluster', 1)).length, 1);
  });

  it('What is in memory is answered without a promise as it is with one, and nothing else is', async () => {
    const fresh = createJudge(graphs);
    const namespaced = { ...cluster(100n), namespace: 'shop' };
    for (const who of [ANN, BOB, CAT, DAN, EVE]) {
      for (const object of [organization, cluster(100n), cluster(102n), cluster(90n), namespaced]) {
        const expected = (await fresh.allowed(who, ACME, [object]))[0];
        assert.deepEqual(fresh.atHand?.allowed(who, ACME, object), expected);
        for (const relation of ['can_view', 'can_edit']) {
          const isHeld = await fresh.holds(who, ACME, relation, object);
          assert.equal(fresh.atHand?.holds(who, ACME, relation, object), isHeld);
          assert.equal(createJudge(graphs).atHand?.holds(who, ACME, relation, object), isHeld);
        }
      }
    }
    const [nowhere, outsider] = [987n, 986n];
    assert.equal(fresh.atHand?.holds(ANN, nowhere, 'can_view', organization), undefined);
    assert.equal(
      fresh.atHand?.allowed(outsider, ACME, cluster(100n)),
      undefined,
      'whose own objects are not in memory',
    );
  });

  it('Permissions can be asked for on oneself, and not on other users', async () => {
    const objects = createObjects(judge);
    const self = { type: 'user', id: CAT } as const;
    const caller = { personId: CAT, organizationId: ACME };
    assert.deepEqual(await objects.allowed(caller, [self, cluster(100n)]), [
      ['can_view', 'can_edit'],
      ['can_view', 'can_connect', 'can_view_orchestratorconfig'],
    ]);
    const refused = { kind: 'forbidden', message: 'permissions cannot be queried on other users' };
    assert.throws(() => objects.allowed(caller, [self, { type: 'user', id: BOB }]), refused);
    assert.equal(readObjectType('team'), 'team');
    assert.throws(() => readObjectType('gadget'), { kind: 'invalid', message: /"gadget"/ });
  });

  it('An answer is remembered until the graph changes, also if the user asks about themselves meanwhile', async () => {
    const cache = createAnswerCache();
    const present = await graphs.of(ACME);
    const graph = createGraph(present.model, present.tuples());
    const first = cache.ask(graph, DAN, cluster(100n));
    const team = cache.ask(graph, DAN, { type: 'team', id: 100n });
    assert.deepEqual([first, team], [['can_view', 'can_connect'], []]);
    assert.deepEqual(cache.ask(graph, DAN, { type: 'user', id: DAN }), ['can_view', 'can_edit']);
    assert.equal(cache.ask(graph, DAN, cluster(100n)), first);
    assert.equal(cache.ask(graph, DAN, { type: 'team', id: 100n }), team);
    assert.notEqual(cache.ask(graph, BOB, cluster(100n)), first);
    const holds = (relation: string, namespace?: string) =>
      cache.holds(graph, DAN, relation, { ...cluster(100n), ...(namespace !== undefined && { namespace }) });
    const all = () => [
      holds('can_connect'),
      holds('can_edit'),
      holds('can_connect', 'shop'),
      holds('can_edit', 'shop'),
    ];
    assert.deepEqual(
      [all(), all()],
      [
        [true, false, true, false],
        [true, false, true, false],
      ],
    );
    assert.equal(cache.holds(graph, BOB, 'can_edit', cluster(100n)), true);
    graph.replaceSource('role:7', []);
    assert.deepEqual(cache.ask(graph, DAN, cluster(100n)), []);
    assert.deepEqual(all(), [false, false, false, false]);
    assert.equal(cache.holds(graph, BOB, 'can_edit', cluster(100n)), true);
  });

  it('The engine is asked for the relation that a route names, and absence looks like a lack of rights', async () => {
    const relations = createRelations(judge, { ownerOf: async () => undefined }, BigInt);
    await relations.require(person(ANN), ACME, 'delete:org');
    await relations.require(person(DAN), ACME, 'view:role', '7');
    const missing = (relation: string) => ({ kind: 'forbidden', message: `missing relation ${relation}` });
    await assert.rejects(relations.require(person(BOB), ACME, 'delete:org'), missing('delete:org'));
    for (const id of ['7', '8']) {
      await assert.rejects(relations.require(person(CAT), ACME, 'edit:role', id), missing('edit:role'), id);
    }
    const noRole = { kind: 'notFound', message: 'role not found' };
    await assert.rejects(relations.require(person(ANN), ACME, 'edit:role', '8'), noRole, 'who edits roles may know');
    await assert.rejects(relations.require(person(ROOT, true), ACME, 'view:role', '8'), noRole);
    await assert.rejects(relations.require(person(ANN), ACME, 'view:role', '8'), missing('view:role'));
    await assert.rejects(relations.require(person(ANN), ACME, 'fly:org'), { kind: 'internal' });
  });

  it('On an object, whoever may not see it is told that it does not exist, and others what they lack', async () => {
    const owners: Record<string, bigint> = { 'team 1': ACME, 'team 2': ACME, 'cluster 100': ACME, 'cluster 102': ANN };
    const relations = createRelations(judge, { ownerOf: async (type, id) => owners[`${type} ${id}`] }, BigInt);
    assert.equal(await relations.requireOn(person(BOB), 'edit:cluster', '100'), ACME);
    assert.equal(await relations.requireOn(person(ANN), 'edit:cluster', '102'), ANN);
    const failure = (who: bigint, relation: string, id: string) =>
      relations.requireOn(person(who), relation, id).then(
        () => assert.fail('held'),
        ({ kind, message, detail }: AppError) => [kind, message, detail.reason, detail.keptFrom?.ownerId],
      );
    const none = ['notFound', 'cluster does not exist', 'cluster_not_found'];
    assert.deepEqual(await failure(EVE, 'edit:cluster', '100'), [...none, ACME]);
    assert.deepEqual(await failure(EVE, 'edit:cluster', '999'), [...none, undefined]);
    const lacking = ['forbidden', 'missing relation edit:cluster', 'missing_relation', ACME];
    assert.deepEqual(await failure(CAT, 'edit:cluster', '100'), lacking);
    const last = ['conflict', 'the last owner of an organization cannot leave', 'last_owner', undefined];
    assert.deepEqual(await failure(ANN, 'remove_member:team', '1'), last);
    assert.deepEqual((await failure(CAT, 'remove_member:team', '2')).slice(0, 3), [
      'forbidden',
      'missing relation remove_member:team',
      'missing_relation',
    ]);
    assert.equal(await relations.ownerOf('view:cluster', '102'), ANN);
    for (const named of ['view:org', 'view:role'])
      await assert.rejects(relations.ownerOf(named, '1'), { kind: 'internal' });
  });

  it('Nobody grants a permission or a role that they do not hold', async () => {
    const guard = createEscalationGuard(judge, async () => new Map());
    const connect = { namespace: 'cluster', action: 'connect', relation: 'can_connect_clusters' };
    const edit = { namespace: 'organization', action: 'edit', relation: 'can_edit' };
    const owner = await guard(ANN, ACME);
    owner.rejectEscalation({ permission: 'owner', roles: [connect, edit] });
    assert.equal(owner.isOwner, true);
    const editor = await guard(BOB, ACME);
    assert.equal(editor.isOwner, false);
    for (const permission of ['none', 'read', 'write'] as const) editor.rejectEscalation({ permission, roles: [edit] });
    for (const permission of ['admin', 'owner'] as const) {
      const message = `you cannot grant what you do not hold yourself: permission "${permission}"`;
      assert.throws(() => editor.rejectEscalation({ permission, roles: [] }), { kind: 'forbidden', message });
    }
    const custom = await guard(DAN, ACME);
    custom.rejectEscalation({ permission: 'none', roles: [connect] });
    const message = 'you cannot grant what you do not hold yourself: permission "read", organization "edit"';
    assert.throws(() => custom.rejectEscalation({ permission: 'read', roles: [edit, connect] }), { message });
    const held = await heldBy(judge, DAN, ACME);
    rejectEscalation([connect], held);
    assert.throws(() => rejectEscalation([connect, edit], held), /organization "edit"$/);
  });

  it('Visible clusters are those of the user and of their organizations', async () => {
    const visible = createVisibleClusters(judge);
    const viewer = (id: bigint, ...ids: bigint[]) => ({
      id,
      organizations: new Map(ids.map((one) => [one, ''])),
    });
    const sorted = (ids: readonly bigint[]) => [...ids].sort((one, other) => Number(one - other));
    const full = [
      'can_view',
      'can_edit',
      'can_remove',
      'can_connect',
      'can_view_orchestratorconfig',
      'can_administer',
      'can_review',
    ];
    assert.deepEqual(await visible.clusters(viewer(ANN, ACME, GLOBEX)), [
      { id: 100n, ownerId: ACME, relations: full },
      { id: 101n, ownerId: ACME, relations: full },
      { id: 102n, ownerId: ANN, relations: full },
    ]);
    assert.deepEqual(
      (await visible.clusters(viewer(EVE, GLOBEX, ACME))).map(({ id, ownerId }) => [id, ownerId]),
      [
        [90n, EVE],
        [99n, GLOBEX],
      ],
    );
    assert.deepEqual(sorted(await visible.visibleTo(viewer(ANN, ACME))), [100n, 101n, 102n]);
    assert.deepEqual(sorted(await visible.visibleTo(viewer(ANN))), [102n]);
    assert.deepEqual(sorted(await visible.visibleIn({ id: DAN }, ACME)), [100n, 101n]);
    assert.deepEqual(await visible.visibleIn({ id: DAN }, GLOBEX), []);
    // More organizations than are loaded at once.
    const empty = Array.from({ length: 20 }, (_, at) => BigInt(1000 + at));
    assert.deepEqual(sorted(await visible.visibleTo(viewer(ANN, ...empty, ACME))), [100n, 101n, 102n]);
  });

  it('From a viewpoint, one sees oneself, what one may view, and members if one may view those', async () => {
    const [acme, own] = [await graphs.of(ACME), await graphs.of(ANN)];
    const from = (callerId: bigint, object = cluster(100n)) =>
      viewpointOf({ organizationId: ACME, callerId, object }, acme, own);
    assert.equal(from(ANN, cluster(102n)).graph, own);
    assert.equal(from(ANN).graph, acme);
    assert.equal(from(BOB, cluster(102n)).graph, acme, 'what another user owns is in neither');
    assert.deepEqual(
      [from(CAT).sees('user:2'), from(DAN).sees('user:2'), from(DAN).sees('user:4')],
      [true, false, true],
    );
    assert.deepEqual([from(CAT).sees('team:1'), from(EVE).sees('team:1')], [true, false]);
    assert.equal(from(CAT).query(`user:${CAT}`, 'can_view').contextualTuples, undefined);
    const self = viewpointOf({ organizationId: ACME, callerId: CAT, object: { type: 'user', id: CAT } }, acme, own);
    assert.equal(self.query(`user:${CAT}`, 'can_view').contextualTuples?.length, 1);
  });
});
