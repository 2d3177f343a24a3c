import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { COUNTED_DRIVERS } from '../../support/server/drivers.ts';
import { openTestServer, type TestServer } from '../../support/server/server.ts';
import { assertScimError, newScimToken, patch, type ScimCall, scimCaller, user } from '../../support/world/scim.ts';

const ENV = { SCIM_DOMAINS: 'acme:acme.example' };

for (const driver of COUNTED_DRIVERS) {
  describe(`What customers add to SCIM on ${driver}`, () => {
    let atrium: TestServer;
    let acme: ScimCall;
    before(async () => {
      atrium = await openTestServer({ driver, env: ENV });
      acme = scimCaller(atrium, await newScimToken(atrium, 'acme', 'ann'));
    });
    after(() => atrium.close());

    it(`An attribute of an unknown extension is ignored in every form of PATCH on ${driver}, and the rest is done`, async () => {
      const own = 'urn:ietf:params:scim:schemas:extension:acme:2.0:User';
      const made = await acme('POST', '/Users', { ...user('band@acme.example'), [own]: { costBand: 'B' } });
      assert.equal(made.status, 201, made.text);
      const at = `/Users/${made.body.id}`;
      let active = true;
      for (const extension of [
        { op: 'Replace', path: `${own}:costBand`, value: 'C' },
        { op: 'add', path: `${own}:badge.color`, value: 'red' },
        { op: 'replace', path: own, value: { costBand: 'D' } },
        { op: 'remove', path: `${own}:badges[type eq "x"].value` },
        { op: 'replace', value: { [`${own}:costBand`]: 'E', [own]: { costBand: 'F' } } },
        { op: 'replace', path: 'urn:acme:hr:1.0:costBand', value: 1 },
      ]) {
        active = !active;
        const answer = await acme(
          'PATCH',
          at,
          patch(extension, { op: 'Replace', path: 'active', value: String(active) }),
        );
        assert.deepEqual([answer.status, answer.body.active], [200, active], JSON.stringify(extension));
      }
      assertScimError(
        await acme('GET', `/Users?filter=${encodeURIComponent(`${own}:costBand pr`)}`),
        400,
        'invalidFilter',
      );
    });

    it(`Replacing the address at work on ${driver} of a person whose address is of another type changes it`, async () => {
      const emails = [{ value: 'hal@acme.example', type: 'home', primary: true }];
      const made = await acme('POST', '/Users', { ...user('hal@acme.example'), emails });
      const at = `/Users/${made.body.id}`;
      const work = { op: 'Replace', path: 'emails[type eq "work"].value', value: 'hal.work@acme.example' };
      const changed = await acme('PATCH', at, patch(work));
      assert.deepEqual(changed.body.emails, [{ value: 'hal.work@acme.example', type: 'work', primary: true }]);
      const home = { op: 'Replace', path: 'emails[type eq "home"].value', value: 'hal.home@acme.example' };
      const same = await acme('PATCH', at, patch(home));
      assert.deepEqual(same.body.emails, changed.body.emails, 'one address is kept, and it is that at work');
    });

    it(`A request without a token is told on ${driver} to send one as Bearer`, async () => {
      const answer = await fetch(`${atrium.url}/scim/v2/Users`);
      assert.deepEqual([answer.status, answer.headers.get('www-authenticate')], [401, 'Bearer']);
    });
  });
}
