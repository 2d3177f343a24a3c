import assert from 'node:assert/strict';
import { it } from 'node:test';
import { listenForStatements } from '../../support/checks/heard-statements.ts';
import { itLong } from '../../support/checks/long.ts';
import { DRIVERS } from '../../support/server/db.ts';
import { openTestServer } from '../../support/server/server.ts';
import { statement } from '../../support/server/statement.ts';
import { clusterPermission, makeRole, numbersOf } from '../../support/world/authz.ts';

const VIEW = clusterPermission('view clusters');
const CONNECT = clusterPermission('connect to clusters');

/** As another replica would have created it, so that this one has loaded nothing yet. */
const CREATE = statement(
  `insert into guardrail (organization_id, name, name_key, kind, user_ids, relation, object_type, object_id)
   values ($1, 'prod is closed', 'prod is closed', 'never', array[$2::bigint], 'can_connect', 'cluster', $3)`,
);
const NOTE = statement('update revision set guardrails = gen_random_uuid()');

/** More than a graph that is in use is patched with. */
const MEMBERS = 4_100;
const JOIN_TEAM = statement(
  `with made as (
     insert into account (kind, name) select 'user', 'mass' || n from generate_series(1, $2::integer) n returning id)
   insert into team_member (team_id, account_id) select $1::bigint, id from made`,
);
const ORGANIZATIONS = 60;
const JOIN_MANY = statement(
  `with made as (
     insert into account (kind, name) select 'organization', 'many' || n from generate_series(1, $2::integer) n returning id
   ), owners as (
     insert into team (organization_id, name, permission, type) select id, 'Owners', 'owner', 'builtin' from made
   ), viewers as (
     insert into team (organization_id, name, permission, type) select id, 'Viewers', 'read', 'builtin' from made
     returning id
   )
   insert into team_member (team_id, account_id) select id, $1 from viewers`,
);

for (const driver of DRIVERS) {
  it(`The graph for the guardrails of an organization is loaded once, before the locks that other writes need, on ${driver}`, async (t) => {
    const atrium = await openTestServer({ driver });
    t.after(() => atrium.close());
    const id = numbersOf(atrium);
    const ann = atrium.as('ann');
    const { body: role } = await makeRole(atrium, {
      name: 'connecting',
      permissions: [VIEW],
      teams: [id.team('operators')],
    });
    const grant = (permissions: readonly unknown[]) => ann('PUT', `/authz/roles/${role.id}?org=acme`, { permissions });
    const { db } = atrium.instance;
    await db.query(CREATE, [atrium.world.orgs.acme?.id, atrium.world.users.eve?.id, id.cluster('prod')]);
    await db.query(NOTE);
    // The first write after the first guardrail learns of it.
    assert.equal((await grant([VIEW, CONNECT])).status, 503);
    const heard = listenForStatements(t, db);
    const loads = () => heard.inside.filter((name) => name === 'graphs.load').length;
    assert.equal((await grant([VIEW, CONNECT])).status, 200);
    const order = heard.inside.filter((name) => ['graphs.load', 'audit.append', 'revision.next'].includes(name));
    assert.deepEqual(order, ['graphs.load', 'audit.append', 'revision.next']);
    assert.equal((await grant([VIEW])).status, 200);
    assert.equal((await grant([VIEW, CONNECT])).status, 200);
    assert.equal(loads(), 1, 'the next writes patch it');
    const refused = await ann('PUT', `/teams/${id.team('operators')}/members/eve`);
    assert.deepEqual([refused.status, refused.body.reason], [409, 'guardrail_violated'], refused.text);
    assert.equal((await grant([VIEW])).status, 200);
    assert.equal(loads(), 1, 'also after a rejected write');
  });

  itLong(`A change of a team of thousands is checked without loading the graph again on ${driver}`, async (t) => {
    const atrium = await openTestServer({ driver });
    t.after(() => atrium.close());
    const id = numbersOf(atrium);
    const ann = atrium.as('ann');
    const { db } = atrium.instance;
    const team = id.team('operators');
    const permissions = [VIEW, CONNECT];
    assert.equal((await makeRole(atrium, { name: 'connecting', permissions, teams: [team] })).status, 201);
    await db.query(JOIN_TEAM, [team, MEMBERS]);
    await db.query(CREATE, [atrium.world.orgs.acme?.id, atrium.world.users.eve?.id, id.cluster('prod')]);
    await db.query(NOTE);
    const member = (method: string, name: string) => ann(method, `/teams/${team}/members/${name}`);
    assert.equal((await member('PUT', 'bob')).status, 503, 'the first write after the first guardrail learns of it');
    assert.equal((await member('PUT', 'bob')).status, 204);
    const heard = listenForStatements(t, db);
    for (const method of ['DELETE', 'PUT', 'DELETE']) assert.equal((await member(method, 'bob')).status, 204);
    const refused = await member('PUT', 'eve');
    assert.deepEqual([refused.status, refused.body.reason], [409, 'guardrail_violated'], refused.text);
    assert.equal((await member('PUT', 'bob')).status, 204);
    assert.deepEqual(
      heard.inside.filter((name) => name === 'graphs.load'),
      [],
    );
  });

  itLong(`A write that touches many organizations reads their guardrails together on ${driver}`, async (t) => {
    const atrium = await openTestServer({ driver });
    t.after(() => atrium.close());
    const { db } = atrium.instance;
    await db.query(JOIN_MANY, [atrium.world.users.dan?.id, ORGANIZATIONS]);
    await db.query(NOTE);
    const heard = listenForStatements(t, db);
    const left = await atrium.as('root')('DELETE', '/admin/users/dan?orphan=true');
    assert.equal(left.status, 204, left.text);
    const reads = heard.inside.filter((name) => name === 'writeGuard.guardrails');
    assert.equal(reads.length, 2, 'before the lock, and under it');
    assert.ok(heard.inside.length < ORGANIZATIONS, heard.inside.join(', '));
  });
}
