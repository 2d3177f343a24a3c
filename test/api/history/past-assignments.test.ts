import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setImmediate as breath } from 'node:timers/promises';
import { sql } from '../../../src/db/db.ts';
import { COUNTS, IS_LONG } from '../../counts.ts';
import { createRandom, SEED } from '../../support/checks/random.ts';
import { ANY_DRIVER, DRIVERS } from '../../support/server/db.ts';
import { openTestServer, type TestServer } from '../../support/server/server.ts';
import { openPlace, type Place, pair } from '../../support/world/assignments.ts';

const END = sql('test.endOneAssignment', 'update assignment set expires_at = clock_timestamp() where id = $1');
const TYPES = ['cluster', 'team', 'robot_ac'];
const PERMISSIONS = [
  'cluster_mgmt view clusters',
  'cluster_mgmt connect to clusters',
  'cluster_mgmt reconfigure clusters',
  'org_mgmt view teams',
  'org_mgmt manage team members',
  'robot_mgmt edit robot accounts',
  'org_mgmt view audit log',
].map(pair);

for (const driver of IS_LONG ? DRIVERS : [ANY_DRIVER])
  describe(`The past of assignments and robots on ${driver} (seed ${SEED})`, () => {
    let atrium: TestServer;
    let place: Place;
    const random = createRandom();
    before(async () => {
      atrium = await openTestServer({ driver, env: { RATE_LIMIT: '0' } });
      place = await openPlace(atrium);
      for (const count of [1, 2])
        await place.role(`role ${count}`, 'cluster_mgmt view clusters', 'org_mgmt view teams');
    });
    after(() => atrium.close());

    it('Every answer about a past moment is the answer that was given then, also at the end of an assignment', async () => {
      const steps: { readonly at: string; readonly change: string; readonly answers: string }[] = [];
      const made = new Set<string>();
      for (let count = 0; count < COUNTS.historyChanges; count++) {
        const change = await makeOne(count);
        made.add(change.split(' ')[0] ?? '');
        // What has ended is noticed with the next request at the latest.
        const answers = await answersOf('');
        const at = new Date();
        steps.push({ at: at.toISOString(), change, answers });
        while (Date.now() <= at.getTime()) await breath();
      }
      for (const { at, change, answers } of steps) {
        assert.equal(await answersOf(`&at=${at}`), answers, `${change} at ${at}`);
      }
      assert.ok(made.has('201'), [...made].join());
    });

    /** What all users and robots hold on all objects, in the words of the matrix. */
    async function answersOf(when: string): Promise<string> {
      const found = [];
      for (const type of TYPES) {
        const path = `/authz/matrix?org=${place.org.name}${when}`;
        const { status, body, text } = await place.call('POST', path, { type, robots: true });
        assert.equal(status, 200, text);
        const ids = (list: readonly { id: number; type?: string }[]) => list.map(({ id, type: of }) => [of, id]);
        found.push([type, ids(body.users), ids(body.objects), body.relations, body.cells]);
      }
      return JSON.stringify(found);
    }

    /** One change of an assignment, or of what one is about. It may be rejected. */
    async function makeOne(count: number): Promise<string> {
      const { call, org, path, at, dan, crew, owner } = place;
      const query = `?org=${org.name}`;
      const all = async (where: string): Promise<{ id: number }[]> => (await call('GET', where)).body;
      const one = async (where: string) => random.pick([...(await all(where)), { id: 999_999 }]).id;
      const robot = await one(`/orgs/${org.name}/robots`);
      const cluster = await one(`/orgs/${org.name}/clusters`);
      const assignment = await one(`${path}&limit=50`);
      const role = await one(`/authz/roles${query}`);
      const to = random.pick([
        { type: 'user', name: random.pick([dan.name, owner.name]) },
        { type: 'team', id: crew },
        { type: 'robot_ac', id: robot },
      ]);
      const on = random.pick([
        {},
        { on: { type: 'cluster', id: cluster } },
        { on: { type: 'cluster_set', name: random.pick(['eu', 'us']) } },
        { on: { type: 'team', id: crew } },
        { on: { type: 'robot_ac', id: robot } },
      ]);
      const end = random.chance(0.4) ? { expires_at: new Date(Date.now() + 3_600_000).toISOString() } : {};
      const creating = () => call('POST', path, { role: { id: role }, to, ...on, ...end });
      const choices: [string, () => Promise<{ readonly status: number }>][] = [
        ['create', creating],
        ['create', creating],
        ['create', creating],
        ['update', () => call('PATCH', at(assignment), { expires_at: null })],
        ['delete', () => call('DELETE', at(assignment))],
        ['move', () => call('PATCH', `/clusters/${cluster}`, { clusterSetName: random.pick(['eu', 'us', '']) })],
        ['role', () => call('PUT', `/authz/roles/${role}${query}`, { permissions: random.some(PERMISSIONS, 0.5) })],
        ['robot', () => call('POST', `/orgs/${org.name}/robots`, { name: `robot-${count}` })],
        ['delete robot', () => call('DELETE', `/robots/${robot}`)],
        ['end', async () => ({ status: (await atrium.instance.db.query(END, [assignment])).length + 201 })],
      ];
      const [name, make] = random.pick(choices);
      const { status } = await make();
      assert.ok(status < 500, `${name} ${status}`);
      return `${status} ${name} ${JSON.stringify({ to, on, assignment, role })}`;
    }
  });
