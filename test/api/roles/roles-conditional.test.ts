import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { CATALOG } from '../../../src/roles/catalog.ts';
import { COUNTS } from '../../counts.ts';
import { openTestServer, type TestServer } from '../../support/server/server.ts';
import { makeRole, numbersOf } from '../../support/world/authz.ts';

const AT_ONCE = COUNTS.roleRequestsAtOnce;

describe('Conditional and concurrent role changes', () => {
  let atrium: TestServer;
  before(async () => {
    atrium = await openTestServer();
  });
  after(() => atrium.close());

  const call = (method: string, id: number, body?: object, etag?: string) =>
    atrium.as('ann')(method, `/authz/roles/${id}?org=acme`, body, etag === undefined ? {} : { 'If-Match': etag });

  it('Each version of a role has its own ETag, which is the same for every reader', async () => {
    const made = await makeRole(atrium);
    const first = made.headers.get('etag') ?? '';
    assert.match(first, /^"[^"]+"$/);
    const path = `/authz/roles/${made.body.id}?org=acme`;
    for (const who of ['ann', 'root', 'cat'])
      assert.equal((await atrium.as(who)('GET', path)).headers.get('etag'), first);
    const second = (await call('PUT', made.body.id, { description: 'x' })).headers.get('etag');
    assert.notEqual(second, first);
    assert.equal((await call('GET', made.body.id)).headers.get('etag'), second);
    assert.notEqual((await makeRole(atrium)).headers.get('etag'), first);
  });

  it('A role change succeeds with the current ETag, a list that contains it, *, or no If-Match', async () => {
    const made = await makeRole(atrium);
    const { id } = made.body;
    let etag = made.headers.get('etag') ?? '';
    for (const header of [etag, undefined, '*', ' * ']) {
      const answer = await call('PUT', id, { description: `after ${header}` }, header);
      assert.equal(answer.status, 200, header);
      etag = answer.headers.get('etag') ?? '';
    }
    assert.equal((await call('PUT', id, {}, `"other", ${etag}`)).status, 200);
    assert.equal((await call('DELETE', id, undefined, '*')).status, 204);
  });

  it('A role change with an outdated or unknown ETag is rejected with 412 and changes nothing', async () => {
    const made = await makeRole(atrium);
    const { id } = made.body;
    const old = made.headers.get('etag') ?? '';
    const present = await call('PUT', id, { description: 'newer' }, old);
    for (const header of [old, '"nonsense"', 'nonsense', `W/${present.headers.get('etag')}`]) {
      const put = await call('PUT', id, { description: 'lost' }, header);
      assert.deepEqual(
        [put.status, put.body.message],
        [412, 'the object has changed since you read it: read it again'],
      );
      assert.equal((await call('DELETE', id, undefined, header)).status, 412);
    }
    const now = await call('GET', id);
    assert.deepEqual([now.body, now.headers.get('etag')], [present.body, present.headers.get('etag')]);
    assert.equal((await call('DELETE', id, undefined, now.headers.get('etag') ?? '')).status, 204);
    assert.equal((await call('DELETE', id, undefined, '*')).status, 404);
  });

  /** Complete roles that have nothing in common, so that a mixture of two would be noticed. */
  const drafts = (roleId: number) => {
    const teams = ['Owners', 'Editors', 'Viewers', 'operators'].map((name) => numbersOf(atrium).team(name));
    return Array.from({ length: AT_ONCE }, (_, place) => ({
      name: `mixed ${place} of ${roleId}`,
      description: `by ${place}`,
      permissions: CATALOG.filter((_, at) => at % AT_ONCE === place || at % 3 === place % 3).map(
        ({ namespace, action }) => ({ namespace, action }),
      ),
      teamIDs: teams.filter((_, at) => (place >> at) & 1).sort((a, b) => a - b),
    }));
  };

  it('Concurrent role updates never mix, and the role ends up exactly as one of them specified', async () => {
    const { id } = (await makeRole(atrium)).body;
    for (let round = 0; round < COUNTS.raceRounds; round++) {
      const all = drafts(id);
      const answers = await Promise.all(all.map((draft) => call('PUT', id, draft)));
      for (const [place, answer] of answers.entries()) assert.deepEqual(said(answer.body), all[place]);
      const { body } = await call('GET', id);
      assert.ok(all.some((draft) => JSON.stringify(draft) === JSON.stringify(said(body))));
      const tags = new Set(answers.map((answer) => answer.headers.get('etag')));
      assert.equal(tags.size, AT_ONCE);
    }
  });

  it('Exactly one of many concurrent updates with the same ETag succeeds', async () => {
    const made = await makeRole(atrium);
    const { id } = made.body;
    let etag = made.headers.get('etag') ?? '';
    for (let round = 0; round < COUNTS.raceRounds; round++) {
      const all = drafts(id);
      const answers = await Promise.all(all.map((draft) => call('PUT', id, draft, etag)));
      const won = answers.filter((answer) => answer.status === 200);
      const lost = answers.filter((answer) => answer.status === 412);
      assert.deepEqual([won.length, lost.length], [1, AT_ONCE - 1], answers.map(({ text }) => text).join('\n'));
      assert.deepEqual((await call('GET', id)).body, won[0]?.body);
      etag = won[0]?.headers.get('etag') ?? '';
    }
  });

  it('Exactly one of many concurrent creations of a role with the same name succeeds', async () => {
    const body = { name: 'only one', permissions: [] };
    const made = await Promise.all(
      Array.from({ length: AT_ONCE }, () => atrium.as('ann')('POST', '/authz/roles?org=acme', body)),
    );
    assert.equal(made.filter((answer) => answer.status === 201).length, 1);
    assert.equal(made.filter((answer) => answer.status === 422).length, AT_ONCE - 1);
  });

  it('Exactly one of many concurrent deletions of a role succeeds', async () => {
    const { id } = (await makeRole(atrium)).body;
    const gone = await Promise.all(Array.from({ length: AT_ONCE }, () => call('DELETE', id)));
    assert.equal(gone.filter((answer) => answer.status === 204).length, 1);
    assert.equal(gone.filter((answer) => answer.status === 404).length, AT_ONCE - 1);
  });
});

function said({ name, description, permissions, team_ids }: Record<string, unknown>) {
  return { name, description, permissions, teamIDs: team_ids };
}
