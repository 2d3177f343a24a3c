import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { runInServer } from '../../../src/operations/server-commands.ts';
import { openTestServer, type TestServer } from '../../support/server/server.ts';
import { rejected } from '../../support/world/assignments.ts';
import { openRequestPlace, type RequestPlace } from '../../support/world/requests.ts';
import { reviewsOf } from '../../support/world/reviews.ts';
import { makeRobot } from '../../support/world/robots.ts';

/** What reads the log besides its pages, once the entries that it reads are archived. */
describe('Answers from the audit log after it was archived', () => {
  let atrium: TestServer;
  let place: RequestPlace;
  const folder = mkdtempSync(join(tmpdir(), 'atrium-archived-readers-'));
  const archives: { readonly path: string; readonly before: string }[] = [];
  before(async () => {
    atrium = await openTestServer();
    place = await openRequestPlace(atrium);
  });
  after(async () => {
    rmSync(folder, { recursive: true, force: true });
    await atrium.close();
  });

  const run = (...argv: string[]) => runInServer(atrium.instance, { argv: ['audit', ...argv] }, () => undefined);

  /** Everything except the last entry of each log. */
  async function archive(): Promise<void> {
    const pause = () => new Promise((resolve) => setTimeout(resolve, 5));
    await pause();
    const now = new Date().toISOString();
    await pause();
    // After the moment, so that it is the last entry, which stays.
    const change = { name: `last-${archives.length}`, permissions: [] };
    const made = await place.call('POST', `/authz/roles?org=${place.org.name}`, change);
    assert.equal(made.status, 201, made.text);
    const path = join(folder, `archive-${archives.length}.ndjson`);
    await run('archive', '--before', now, '--to', path);
    archives.push({ path, before: now });
  }

  it('Whoever created the token of a robot does not decide for it after the entry about it was archived', async () => {
    const { org, owner, lead, requests, request, connect, prod, looker, as } = place;
    const robot = await makeRobot(atrium, 'archived-asker', { org: org.name, owner: owner.name });
    const seen = {
      role: { id: looker.id },
      to: { type: 'robot_ac', id: robot.id },
      on: { type: 'cluster', id: prod.id },
    };
    assert.equal((await place.call('POST', place.path, seen)).status, 201);
    await archive();
    const log = await as(owner.name)('GET', `/orgs/${org.name}/audit/export?action=token.create`);
    assert.equal(log.text, '', 'the entry is archived');
    const made = await robot.call('POST', requests, { ...connect, for: 'PT1H', reason: 'deploy' });
    assert.equal(made.status, 201, made.text);
    const { id, digest } = made.body;
    await rejected(as(owner.name), ['POST', request(id, 'approve'), { digest }], 403, 'not_an_approver');
    assert.equal((await as(lead.name)('POST', request(id, 'approve'), { digest })).status, 200);
  });

  it('A review is closed and its record is proved after the entries about it were archived', async () => {
    const { call, org } = place;
    const reviews = reviewsOf(org.name);
    const question = { kind: 'access', relation: 'connect', object: { type: 'cluster', name: 'prod' } };
    const started = await call('POST', reviews.path(), { name: 'Archived', question });
    assert.equal(started.status, 201, started.text);
    await archive();
    const path = reviews.path(`/${started.body.id}`);
    const closed = await call('POST', reviews.path(`/${started.body.id}/close`));
    assert.equal(closed.status, 200, closed.text);
    const proof = closed.body.record;
    assert.equal(proof.verified, true, closed.text);
    await archive();
    const later = await call('GET', path);
    assert.deepEqual(later.body.record, proof);
    for (const { path: file } of archives.toReversed()) await run('restore', file);
    assert.deepEqual((await call('GET', path)).body.record, proof, 'the entries are back, and still there once');
    await archive();
    assert.deepEqual((await call('GET', path)).body.record, proof);
  });

  for (const [what, path] of [
    ['A page', 'audit'],
    ['An export', 'audit/export'],
    ['An export of OCSF', 'audit/export?format=ocsf'],
    ['The histogram', 'audit/histogram'],
    ['The counts by action', 'audit/actions'],
  ] as const) {
    for (const [log, base, name] of [
      ['an organization', () => `/orgs/${place.org.name}`, () => place.owner.name],
      ['the deployment', () => '/admin', () => 'root'],
    ] as const) {
      it(`${what} of ${log} says before which moment the log is archived`, async () => {
        if (archives.length === 0) await archive();
        const as = name() === 'root' ? atrium.as('root') : place.as(name());
        const answer = await as('GET', `${base()}/${path}`);
        assert.equal(answer.status, 200, answer.text);
        assert.equal(answer.headers.get('X-Archived-Before'), archives.at(-1)?.before);
      });
    }
  }

  it('The export of one’s own data says which logs are archived before when', async () => {
    const { org, owner } = place;
    const headers = { Authorization: `token ${owner.token}` };
    const answer = await fetch(`${atrium.url}/api/v1/user/export`, { headers });
    assert.equal(answer.status, 200);
    const text = gunzipSync(Buffer.from(await answer.arrayBuffer())).toString();
    assert.match(text, /archived\.txt/);
    assert.ok(text.includes(`audit/${org.name}.ndjson: before ${archives.at(-1)?.before}\n`));
  });

  it('A question about a moment that is archived is rejected in words', async () => {
    const { org, owner, as } = place;
    const [one] = archives;
    const answer = await as(owner.name)(
      'GET',
      `/authz/users/${owner.name}/access?org=${org.name}&at=${new Date(Date.parse(one?.before ?? '') - 1).toISOString()}`,
    );
    assert.deepEqual([answer.status, answer.body.reason], [400, 'before_audit_log'], answer.text);
    assert.match(answer.body.message, /^before \S+ the log is archived; at must not be earlier$/);
  });
});
