import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { auditOf, brokenLinks } from '../../support/checks/audit.ts';
import { DRIVERS } from '../../support/server/db.ts';
import { openTestServer, type TestServer } from '../../support/server/server.ts';
import { rejected } from '../../support/world/assignments.ts';
import { allowedTo } from '../../support/world/authz.ts';
import { inHours, letExpire } from '../../support/world/expiry.ts';
import { openRequestPlace, type RequestPlace } from '../../support/world/requests.ts';

for (const driver of DRIVERS) {
  describe(`Ends of access requests on ${driver}`, () => {
    let atrium: TestServer;
    before(async () => {
      atrium = await openTestServer({ driver, hasOurClock: true });
    });
    after(() => atrium.close());

    const held = ({ dan, prod, org }: RequestPlace) => allowedTo(atrium, dan.name, 'cluster', prod.id, org.name);
    const state = async ({ as, owner, request }: RequestPlace, id: string) => {
      const { body } = await as(owner.name)('GET', request(id));
      return [body.state, body.because];
    };

    async function lastActions({ org }: RequestPlace, count: number): Promise<string[]> {
      const chain = await auditOf(atrium.instance.db, org.id);
      assert.deepEqual(brokenLinks(chain), []);
      return chain.map(({ action }) => action).slice(-count);
    }

    it(`Deleting the role, the object or the requester closes an open request as failed on ${driver}`, async () => {
      const rows: [string, string, (place: RequestPlace) => [string, string]][] = [
        ['role', 'the role', ({ operator, org }) => ['DELETE', `/authz/roles/${operator.id}?org=${org.name}`]],
        ['cluster', 'the object', ({ prod }) => ['DELETE', `/clusters/${prod.id}`]],
        ['member', 'the requester', ({ org, dan }) => ['DELETE', `/orgs/${org.name}/members/${dan.name}`]],
      ];
      for (const [name, because, target] of rows) {
        const place = await openRequestPlace(atrium);
        const { id, digest } = await place.ask();
        const [method, path] = target(place);
        const gone = await place.call(method, path);
        assert.ok(gone.status < 300, `${name} ${gone.text}`);
        assert.deepEqual(await state(place, id), ['failed', because], name);
        assert.ok((await lastActions(place, 5)).includes('request.fail'), name);
        const late = ['POST', place.request(id, 'approve'), { digest }] as const;
        await rejected(place.as(place.owner.name), late, 409, 'request_closed');
      }
    });

    it(`Deleting the assignment ends the request, and the end of the assignment is that of the request on ${driver}`, async () => {
      const place = await openRequestPlace(atrium);
      const { ask, approve, call, at } = place;
      const { id } = await ask();
      const { body } = await approve(id);
      const [assignment] = body.assignment_ids;
      const later = inHours(6);
      const patched = await call('PATCH', at(assignment), { expires_at: later });
      assert.equal(patched.status, 200, patched.text);
      assert.equal((await call('GET', place.request(id))).body.until, later);
      assert.equal((await call('DELETE', at(assignment))).status, 204);
      assert.deepEqual(await state(place, id), ['ended', null]);
      assert.deepEqual(await held(place), ['can_view']);
      const next = await ask();
      await approve(next.id);
      assert.equal((await call('DELETE', `/clusters/${place.prod.id}`)).status, 204);
      assert.deepEqual(await state(place, next.id), ['ended', null]);
    });

    it(`At its end the access is gone with the first question, and nobody can decide what is too old on ${driver}`, async (t) => {
      const place = await openRequestPlace(atrium);
      const { ask, approve, as, cat, owner, request, org } = place;
      const [approved, open] = [await ask(), await ask({}, cat.name)];
      await approve(approved.id);
      assert.deepEqual(await held(place), ['can_view', 'can_connect']);
      await letExpire(t, atrium, org.id);
      assert.deepEqual(await held(place), ['can_view']);
      assert.equal((await state(place, approved.id))[0], 'ended');
      assert.equal((await state(place, open.id))[0], 'expired');
      const late = ['POST', request(open.id, 'approve'), { digest: open.digest }] as const;
      await rejected(as(owner.name), late, 409, 'request_closed');
      const actions = await lastActions(place, 3);
      assert.deepEqual(actions.sort(), ['assignment.expire', 'request.end', 'request.expire']);
    });
  });
}
