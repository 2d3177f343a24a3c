import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setImmediate as breath } from 'node:timers/promises';
import { type Statement, sql } from '../../../src/db/db.ts';
import { DRIVERS } from '../../support/server/db.ts';
import { openTestServer, type TestServer } from '../../support/server/server.ts';
import { clusterPermission } from '../../support/world/authz.ts';
import { inHours, openScene } from '../../support/world/expiry.ts';

const NOW = `to_char(expires_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as at`;
const END_MEMBER = sql(
  'test.endMember',
  `update team_member set expires_at = date_trunc('milliseconds', clock_timestamp())
    where team_id = $1 and expires_at is not null returning ${NOW}`,
);
const END_ROLE = sql(
  'test.endRole',
  `update assignment set expires_at = date_trunc('milliseconds', clock_timestamp())
    where role_id = $1 and expires_at is not null returning ${NOW}`,
);
const END_TOKEN = sql(
  'test.endPastToken',
  `update token set expires_at = date_trunc('milliseconds', clock_timestamp()) where id = $1 returning ${NOW}`,
);
const TRIES = 5;

for (const driver of DRIVERS) {
  describe(`Moments between an end and its entry in the audit log on ${driver}`, () => {
    let atrium: TestServer;
    before(async () => {
      atrium = await openTestServer({ driver });
    });
    after(() => atrium.close());

    type Scene = Awaited<ReturnType<typeof openScene>>;

    /** What ends is over as of the end, not as of the time at which a server noticed. */
    async function assertOver(
      { other, org, call }: Scene,
      action: string,
      object: string,
      relation: string,
      prepare: () => Promise<{ readonly statement: Statement; readonly id: number }>,
    ) {
      for (let attempt = 1; attempt <= TRIES; attempt++) {
        const { statement, id } = await prepare();
        const [row] = await atrium.instance.db.query<{ at: string }>(statement, [id]);
        const end = Date.parse(row?.at ?? '');
        const late = Date.now() + 40;
        while (Date.now() < late) await breath();
        const ask = async (at: number) => {
          const when = `at=${new Date(at).toISOString()}`;
          const path = `/authz/objects/${object.replace(':', '/')}/explain?org=${org.name}&relation=${relation}`;
          const answer = await call('GET', `${path}&user=${other.name}&${when}`);
          assert.equal(answer.status, 200, answer.text);
          return answer.body.allowed;
        };
        assert.equal((await call('GET', `/orgs/${org.name}`)).status, 200);
        const { body } = await call('GET', `/orgs/${org.name}/audit?action=${action}&limit=1`);
        const noticed = Date.parse(body.items[0].at);
        // The server may happen to look for ends just then.
        if (noticed - end < 4) continue;
        const middle = Math.floor((end + noticed) / 2);
        const told = `ended at ${end}, noticed at ${noticed}`;
        assert.deepEqual(
          [await ask(end - 1), await ask(end), await ask(middle), await ask(noticed - 1), await ask(noticed)],
          [true, false, false, false, false],
          told,
        );
        return;
      }
      assert.fail(`every one of ${TRIES} ends was noticed within 4 ms`);
    }

    const pause = async () => {
      const until = Date.now() + 3;
      while (Date.now() < until) await breath();
    };

    it(`A membership that ended does not grant anything before a server notices on ${driver}`, async () => {
      const scene = await openScene(atrium);
      const { org, other, put } = scene;
      const team = org.team('Editors');
      await assertOver(scene, 'team.expire_member', `organization:${org.id}`, 'can_edit_clusters', async () => {
        await put(`/teams/${team}/members/${other.name}`, { expires_at: inHours(1) });
        await pause();
        return { statement: END_MEMBER, id: team };
      });
    });

    it(`A role that ended for a team does not grant anything before a server notices on ${driver}`, async () => {
      const scene = await openScene(atrium);
      const { org, other, put, call } = scene;
      const team = org.team('Viewers');
      await put(`/teams/${team}/members/${other.name}`);
      const permissions = [clusterPermission('remove clusters')];
      const role = (await call('POST', `/authz/roles?org=${org.name}`, { name: 'r', permissions })).body.id;
      await assertOver(scene, 'role.expire', `organization:${org.id}`, 'can_remove_clusters', async () => {
        await put(`/teams/${team}/roles/${role}`, { expires_at: inHours(1) });
        await pause();
        return { statement: END_ROLE, id: role };
      });
    });

    it(`An assignment that ended does not grant anything before a server notices on ${driver}`, async () => {
      const scene = await openScene(atrium);
      const { org, other, put, call } = scene;
      await put(`/teams/${org.team('Viewers')}/members/${other.name}`);
      const permissions = [clusterPermission('remove clusters')];
      const role = (await call('POST', `/authz/roles?org=${org.name}`, { name: 'one', permissions })).body.id;
      const uid = crypto.randomUUID();
      const cluster = (await call('POST', `/orgs/${org.name}/clusters`, { name: 'alone', uid })).body.id;
      const robot = (await call('POST', `/orgs/${org.name}/robots`, { name: 'bot' })).body.id;
      for (const [to, asked] of [
        [{ type: 'user', name: other.name }, other.name],
        [{ type: 'robot_ac', id: robot }, `robot:${robot}`],
      ] as const) {
        const about = { ...scene, other: { ...other, name: asked } };
        await assertOver(about, 'assignment.expire', `cluster:${cluster}`, 'can_remove', async () => {
          const body = { role: { id: role }, to, on: { type: 'cluster', id: cluster }, expires_at: inHours(1) };
          const made = await call('POST', `/authz/assignments?org=${org.name}`, body);
          assert.equal(made.status, 201, made.text);
          await pause();
          return { statement: END_ROLE, id: role };
        });
      }
    });

    it(`A token that was replaced is gone as of its end on ${driver}`, async () => {
      const scene = await openScene(atrium);
      const { org, other, put, call } = scene;
      await put(`/teams/${org.team('Owners')}/members/${other.name}`);
      const robot = (await call('POST', `/orgs/${org.name}/robots`, { name: 'bot' })).body.id;
      const token = await call('POST', `/robots/${robot}/tokens`, { name: 'one', scopes: ['write:organization'] });
      assert.equal(token.status, 201, token.text);
      const rotated = await call('POST', `/robots/${robot}/tokens/${token.body.id}/rotate`, { overlap_seconds: 3600 });
      assert.ok(rotated.status < 300, rotated.text);
      await pause();
      const once = async () => ({ statement: END_TOKEN, id: token.body.id });
      await assertOver(scene, 'token.expire', `token:${token.body.id}`, 'can_view', once);
    });
  });
}
