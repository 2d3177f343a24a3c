import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { runInServer } from '../../../src/operations/server-commands.ts';
import { API_DRIVERS } from '../../support/server/drivers.ts';
import { type Call, openTestServer, type TestServer } from '../../support/server/server.ts';
import { lastEntry, newUser, PASSWORD } from '../../support/world/own-account.ts';
import { addApp, addPasskey, createBrowser, firstStep, ok, outcome } from '../../support/world/second-factors.ts';

const ENROLL = [403, 'second_factor_enrollment'];

for (const driver of API_DRIVERS) {
  describe(`Requiring a second factor on ${driver}`, () => {
    let atrium: TestServer;
    let root: Call;
    before(async () => {
      atrium = await openTestServer({ driver, env: { SECOND_FACTOR: 'administrators' } });
      root = atrium.as('root');
    });
    after(() => atrium.close());

    /** An organization with an owner who has a second factor, and a member who has none. */
    const organization = async () => {
      const [owner, member] = [await newUser(atrium), await newUser(atrium)];
      const { browser } = await firstStep(atrium, owner.login);
      await addApp(browser);
      const org = `org-of-${owner.login}`;
      const made = await browser('POST', '/orgs', { username: org });
      assert.equal(made.status, 201, made.text);
      const [team] = ok(await browser('GET', `/orgs/${org}/teams`));
      assert.equal((await browser('PUT', `/teams/${team.id}/members/${member.login}`)).status, 204);
      return { org, id: BigInt(made.body.id), owner: { ...owner, browser }, member };
    };

    it(`An organization begins to require one, and its members can do nothing but add one on ${driver}`, async () => {
      const { org, id, owner, member } = await organization();
      const outside = await newUser(atrium);
      const session = (await firstStep(atrium, member.login)).browser;
      const program = await member.token();
      assert.equal((await session('GET', '/user/orgs')).status, 200);
      const adoption = ok(await owner.browser('GET', `/orgs/${org}/second_factor`));
      const lacking = ok(await owner.browser('GET', `/orgs/${org}/second_factor/members?missing=true`));
      const members = ok(await owner.browser('GET', `/orgs/${org}/second_factor/members`));
      assert.ok(members.length > lacking.length && lacking.length > 0);
      assert.deepEqual(adoption, { required: false, members: members.length, without: lacking.length });
      assert.deepEqual(
        lacking.map(({ login }: { login: string }) => login),
        [member.login],
      );
      assert.equal((await owner.browser('PUT', `/orgs/${org}/second_factor`, { required: true })).status, 204);
      assert.deepEqual(await lastEntry(atrium, id), {
        action: 'organization.second_factor',
        actor: owner.login,
        object: `organization:${id}`,
        was: { required: false },
        is: { required: true },
      });
      for (const path of ['/user/orgs', '/user/context', '/user/credentials', `/orgs/${org}`, '/user/tokens']) {
        const answer = await session('GET', path);
        if (path !== '/user/tokens') assert.deepEqual(outcome(answer), ENROLL, path);
      }
      assert.deepEqual(outcome(await session('POST', '/orgs', { username: 'escape' })), ENROLL);
      assert.equal((await program('GET', '/user/orgs')).status, 200, 'tokens that exist work on');
      assert.equal((await (await outside.signIn())('GET', '/user/orgs')).status, 200);
      const again = await firstStep(atrium, member.login);
      assert.equal(again.answer.status, 200, 'signing in works');
      assert.equal(ok(await again.browser('GET', '/user/factors')).required, true);
      assert.equal(ok(await again.browser('GET', '/user')).login, member.login);
      await addApp(again.browser);
      assert.equal((await again.browser('GET', '/user/orgs')).status, 200);
      const rest = await owner.browser('GET', `/orgs/${org}/second_factor/members?missing=true`);
      assert.deepEqual([ok(rest), rest.headers.get('x-total-count')], [[], '0']);
    });

    it(`Basic authentication of a member without a factor is for adding one only on ${driver}`, async () => {
      const { org, owner, member } = await organization();
      await owner.browser('PUT', `/orgs/${org}/second_factor`, { required: true });
      const headers = { Authorization: `Basic ${Buffer.from(`${member.login}:${PASSWORD}`).toString('base64')}` };
      assert.deepEqual(outcome(await atrium.as()('GET', '/user/orgs', undefined, headers)), ENROLL);
      const body = { name: 'escape' };
      assert.deepEqual(outcome(await atrium.as()('POST', `/users/${member.login}/tokens`, body, headers)), ENROLL);
      assert.equal((await atrium.as()('GET', '/user/factors', undefined, headers)).status, 200);
    });

    it(`The last factor stays while one is required, and goes when that ends on ${driver}`, async () => {
      const { org, owner, member } = await organization();
      const { browser } = await firstStep(atrium, member.login);
      const { passkey } = await addPasskey(atrium, browser);
      await addApp(browser);
      await owner.browser('PUT', `/orgs/${org}/second_factor`, { required: true });
      const both = await Promise.all([
        browser('DELETE', '/user/factors/totp'),
        browser('DELETE', `/user/factors/passkeys/${passkey.id}`),
      ]);
      assert.deepEqual(both.map(({ status }) => status).sort(), [204, 409], 'only one of them, also at once');
      const left = ok(await browser('GET', '/user/factors'));
      const path = left.totp ? '/user/factors/totp' : `/user/factors/passkeys/${passkey.id}`;
      assert.deepEqual(outcome(await browser('DELETE', path)), [409, 'last_factor']);
      assert.equal((await owner.browser('PUT', `/orgs/${org}/second_factor`, { required: false })).status, 204);
      assert.equal((await browser('DELETE', path)).status, 204);
      assert.equal((await browser('GET', '/user/orgs')).status, 200);
    });

    it(`Only whoever may edit the organization requires one, and only with one of their own on ${driver}`, async () => {
      const { org, owner, member } = await organization();
      const bare = await newUser(atrium);
      const session = await bare.signIn();
      assert.equal((await session('POST', '/orgs', { username: `bare-${bare.login}` })).status, 201);
      const own = `/orgs/bare-${bare.login}/second_factor`;
      assert.equal((await session('PUT', own, { required: true })).status, 409);
      assert.equal((await session('PUT', `/orgs/${org}/second_factor`, { required: true })).status, 404);
      const insider = await member.signIn();
      const [team] = ok(await owner.browser('GET', `/orgs/${org}/teams`));
      assert.equal(team.permission, 'owner');
      assert.equal((await owner.browser('DELETE', `/teams/${team.id}/members/${member.login}`)).status, 204);
      assert.equal((await insider('GET', `/orgs/${org}/second_factor`)).status, 404);
    });

    it(`Site administrators need one if the deployment says so, and see who has which on ${driver}`, async () => {
      const { login, id } = await newUser(atrium);
      assert.equal((await root('PATCH', `/admin/users/${login}`, { admin: true })).status, 200);
      const { browser, answer } = await firstStep(atrium, login);
      assert.equal(answer.status, 200);
      assert.deepEqual(outcome(await browser('GET', '/admin/users')), ENROLL);
      const { codes = [] } = await addApp(browser);
      assert.equal((await browser('GET', '/admin/users')).status, 200);
      const pages = await Promise.all([1, 2].map((page) => root('GET', `/admin/factors?limit=50&page=${page}`)));
      const listed = pages.flatMap(ok);
      assert.deepEqual(
        listed.find((one: { login: string }) => one.login === login),
        {
          ...{ id: Number(id), login, full_name: '', is_admin: true, passkeys: 0, totp: true },
          recovery_codes_left: 10,
        },
      );
      assert.ok(
        !ok(await root('GET', '/admin/factors?missing=true')).some((one: { login: string }) => one.login === login),
      );
      const shown = await root('GET', `/admin/users/${login}/factors`);
      assert.equal(ok(shown).required, true);
      assert.equal(shown.text.includes(codes[0] ?? ''), false);
    });

    it(`An administrator removes the factors of whoever has lost them, which ends their sessions on ${driver}`, async () => {
      const { login, id } = await newUser(atrium);
      const { browser } = await firstStep(atrium, login);
      await addApp(browser);
      await addPasskey(atrium, browser);
      const eve = await newUser(atrium);
      const path = `/admin/users/${login}/factors`;
      assert.equal((await (await eve.signIn())('DELETE', path)).status, 403);
      assert.equal((await root('DELETE', path)).status, 204);
      assert.deepEqual(await lastEntry(atrium, id), {
        action: 'factor.reset',
        actor: 'root',
        object: `user:${id}`,
        was: { passkeys: 1, totp: true },
        is: null,
      });
      assert.equal((await browser('GET', '/user')).status, 401);
      assert.equal((await firstStep(atrium, login)).answer.status, 200);
      assert.equal((await root('DELETE', path)).status, 204, 'again');
      assert.equal((await root('DELETE', '/admin/users/nobody-at-all/factors')).status, 404);
    });

    it(`On the server's own machine, a command removes the factors of whoever has lost them on ${driver}`, async () => {
      const { login, id } = await newUser(atrium);
      const { browser } = await firstStep(atrium, login);
      await addApp(browser);
      const run = async (...argv: string[]) => {
        const lines: string[] = [];
        await runInServer(atrium.instance, { argv: ['second-factor', ...argv] }, (line) => lines.push(line));
        return lines.join('\n');
      };
      assert.match(await run('remove', login), /^removed the second factors of user\d+ \(1\) and ended all sessions/);
      assert.deepEqual(
        [(await lastEntry(atrium, id)).action, (await lastEntry(atrium, id)).actor],
        ['factor.reset', 'atrium'],
      );
      assert.equal((await browser('GET', '/user')).status, 401);
      assert.equal(await run('remove', login), `${login} has no second factor`);
      for (const wrong of [[], ['remove'], ['add', login], ['remove', login, 'x'], ['remove', 'nobody-at-all']]) {
        await assert.rejects(run(...wrong), Error, wrong.join(' '));
      }
    });

    it(`A ticket from before the factors were removed opens nothing by itself on ${driver}`, async () => {
      const { login } = await newUser(atrium);
      const { browser } = await firstStep(atrium, login);
      const { app } = await addApp(browser);
      const half = await firstStep(atrium, login);
      assert.equal((await root('DELETE', `/admin/users/${login}/factors`)).status, 204);
      assert.deepEqual(outcome(await half.browser('POST', '/user/signin/factor', { code: app.code() })), [
        401,
        'wrong_code',
      ]);
      assert.equal((await createBrowser(atrium)('GET', '/user')).status, 401);
    });
  });
}
