import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { createFirstAdministrator } from '../../../src/operations/first-start.ts';
import { auditOf } from '../../support/checks/audit.ts';
import { API_DRIVERS } from '../../support/server/drivers.ts';
import { openTestServer, type TestServer } from '../../support/server/server.ts';
import { makePerson } from '../../support/world/people.ts';
import { basic, tokenCalls } from '../../support/world/tokens.ts';

const DAY_MS = 86_400_000;
const inDays = (days: number) => new Date(Date.now() + days * DAY_MS).toISOString();
const FREE = { max_days: null, expiry_required: false, personal_tokens: 'everyone' };

for (const driver of API_DRIVERS) {
  describe(`Token policy on ${driver}`, () => {
    let atrium: TestServer;
    let calls: ReturnType<typeof tokenCalls>;
    before(async () => {
      atrium = await openTestServer({ driver });
      calls = tokenCalls(atrium);
    });
    after(() => atrium.close());
    beforeEach(async () => {
      await set({});
      await setRobots({});
    });

    const set = (body: object, name = 'root') => atrium.as(name)('PUT', '/admin/token_policy', body);
    const setRobots = (body: object, name = 'ann') => atrium.as(name)('PUT', '/orgs/acme/token_policy', body);
    const robotPath = () => `/robots/${atrium.world.robots.ci}/tokens`;
    let number = 0;
    const create = (name: string, body: object = {}) => calls.create(name, { name: `policy ${++number}`, ...body });
    const createForRobot = (body: object) =>
      atrium.as('ann')('POST', robotPath(), { name: `policy ${++number}`, ...body });

    it(`Without a policy, everybody may create tokens that never expire on ${driver}`, async () => {
      assert.deepEqual((await atrium.as('root')('GET', '/admin/token_policy')).body, FREE);
      assert.deepEqual((await atrium.as('eve')('GET', '/user/token_policy')).body, {
        ...{ max_days: null, expiry_required: false, may_create: true },
      });
      assert.equal((await create('eve')).status, 201);
    });

    it(`A maximum lifetime is required of new tokens of users and robots, and says so, on ${driver}`, async () => {
      assert.deepEqual((await set({ max_days: 30 })).body, { ...FREE, max_days: 30 });
      const whose = 'the token policy of the deployment requires tokens to expire within 30 days';
      for (const make of [(body: object) => create('ann', body), createForRobot]) {
        const never = await make({});
        assert.deepEqual(
          [never.status, never.body.reason, never.body.message],
          [422, 'token_policy', `expires_at is required: ${whose}`],
        );
        const long = await make({ expires_at: inDays(31) });
        assert.deepEqual(
          [long.status, long.body.reason, long.body.message],
          [422, 'token_policy', `${whose}; choose an earlier expires_at`],
        );
        assert.equal((await make({ expires_at: inDays(30) })).status, 201);
      }
    });

    it(`Tokens can be required to expire at any time on ${driver}`, async () => {
      await set({ expiry_required: true });
      const never = await create('ann');
      assert.deepEqual([never.status, never.body.reason], [422, 'token_policy']);
      assert.equal((await create('ann', { expires_at: inDays(3000) })).status, 201);
    });

    it(`An organization can be stricter about its robots, but not laxer, on ${driver}`, async () => {
      await set({ max_days: 30 });
      const laxer = await setRobots({ max_days: 300 });
      assert.deepEqual(laxer.body, {
        ...{ max_days: 300, expiry_required: false },
        effective: { max_days: 30, expiry_required: false },
      });
      assert.equal((await createForRobot({ expires_at: inDays(31) })).status, 422);
      await setRobots({ max_days: 7, expiry_required: true });
      const refused = await createForRobot({ expires_at: inDays(8) });
      assert.match(refused.body.message, /of the organization requires tokens to expire within 7 days/);
      assert.equal((await create('ann', { expires_at: inDays(29) })).status, 201, 'not for users');
      const shown = (await atrium.as('cat')('GET', '/orgs/acme/token_policy')).body;
      assert.deepEqual(shown.effective, { max_days: 7, expiry_required: true });
    });

    it(`The policy says who may create and rotate personal tokens on ${driver}`, async () => {
      const stranger = await makePerson(atrium);
      const token = await calls.make(stranger.name, { name: 'old', can_rotate: true });
      await set({ personal_tokens: 'members' });
      const answers = [await create(stranger.name), await calls.rotate(stranger.name, 'old')];
      answers.push(await calls.withToken(token.sha1)('POST', '/user/token/rotate', {}));
      for (const { status, body } of answers) {
        assert.deepEqual([status, body.reason], [403, 'token_policy']);
        assert.match(body.message, /lets only members of an organization create/);
      }
      assert.equal((await atrium.as(stranger.name)('GET', '/user/token_policy')).body.may_create, false);
      assert.equal((await create('cat')).status, 201);
      await set({ personal_tokens: 'administrators' });
      assert.match((await create('cat')).body.message, /lets only site administrators create/);
      assert.equal((await create('root')).status, 201);
      const helped = await calls.create('root', { name: `helped ${driver}` }, 'cat');
      assert.equal(helped.status, 201, 'an administrator creates tokens for others');
      assert.equal((await createForRobot({})).status, 201, 'tokens of robots are not personal');
    });

    it(`Tokens that are older than the rules are shown as such, and keep working, on ${driver}`, async () => {
      const [never, long, short] = [
        await calls.make('dan', { name: 'never' }),
        await calls.make('dan', { name: 'long', expires_at: inDays(90) }),
        await calls.make('dan', { name: 'short', expires_at: inDays(5) }),
      ];
      await set({ max_days: 30, expiry_required: true });
      const broken = new Map((await calls.list('dan')).map(({ id, beyond_policy }) => [id, beyond_policy]));
      assert.deepEqual(broken.get(never.id), ['max_days', 'expiry_required']);
      assert.deepEqual(broken.get(long.id), ['max_days']);
      assert.deepEqual(broken.get(short.id), []);
      assert.equal((await calls.withToken(never.sha1)('GET', '/user')).status, 200);
    });

    it(`A rotation brings a token within the rules on ${driver}`, async () => {
      await calls.make('dan', { name: 'endless' });
      await set({ max_days: 30 });
      const made = (await calls.rotate('dan', 'endless')).body;
      assert.ok(Math.abs(Date.parse(made.expires_at) - Date.parse(inDays(30))) < 60_000, made.expires_at);
      const asked = await calls.rotate('dan', 'endless', { expires_at: inDays(40) });
      assert.deepEqual([asked.status, asked.body.reason], [422, 'token_policy']);
      await set({ expiry_required: true });
      await calls.issue('dan', { name: 'unending', scopes: ['all'] });
      const unending = await calls.rotate('dan', 'unending');
      assert.deepEqual(
        [unending.status, unending.body.reason],
        [422, 'token_policy'],
        'no lifetime can be chosen for it',
      );
      assert.equal((await calls.rotate('dan', 'unending', { expires_at: inDays(3) })).status, 201);
    });

    it(`Only site administrators and whoever may edit the organization change a policy on ${driver}`, async () => {
      assert.equal((await set({}, 'ann')).status, 403);
      assert.equal((await atrium.as('ann')('GET', '/admin/token_policy')).status, 403);
      assert.equal((await setRobots({}, 'cat')).status, 403);
      assert.equal((await setRobots({}, 'eve')).status, 404);
      for (const body of [{ max_days: 0 }, { max_days: 3651 }, { max_days: 1.5 }, { personal_tokens: 'nobody' }]) {
        assert.equal((await set(body)).status, 422, JSON.stringify(body));
      }
    });

    it(`Changes of a policy are in the audit log on ${driver}`, async () => {
      await set({ max_days: 12 });
      await setRobots({ max_days: 11 });
      const [site] = (await auditOf(atrium.instance.db, 0n))
        .filter(({ action }) => action === 'token_policy.update')
        .slice(-1);
      assert.deepEqual(
        [site?.actor_name, JSON.parse(site?.before ?? '{}').maxDays, JSON.parse(site?.after ?? '{}').maxDays],
        ['root', null, 12],
      );
      const acme = await auditOf(atrium.instance.db, atrium.world.orgs.acme?.id ?? 0n);
      const [own] = acme.filter(({ action }) => action === 'token_policy.update').slice(-1);
      assert.deepEqual([own?.actor_name, JSON.parse(own?.after ?? '{}').maxDays], ['ann', 11]);
    });

    it(`No policy keeps the server's own machine from issuing a token on ${driver}`, async () => {
      await set({ max_days: 1, expiry_required: true, personal_tokens: 'administrators' });
      const lines: string[] = [];
      const { users } = atrium.instance.features;
      // As on the first start, when there is no account yet.
      const features = {
        ...atrium.instance.features,
        users: {
          ...users,
          anyAccount: async () => false,
          create: (user: Parameters<typeof users.create>[0]) =>
            users.create({ ...user, name: 'firstroot', email: 'firstroot@localhost' }),
        },
      };
      await createFirstAdministrator({ features, identity: atrium.instance.identity }, atrium.url, (line) =>
        lines.push(line),
      );
      const [, text = ''] = /TOKEN=(\S+)/.exec(lines.join('\n')) ?? [];
      const self = (await calls.withToken(text)('GET', '/user/token')).body;
      const days = Math.round((Date.parse(self.expires_at) - Date.now()) / 86_400_000);
      assert.deepEqual([days, self.beyond_policy], [30, ['max_days']]);
      const lifted = await atrium.as()('PUT', '/admin/token_policy', {}, basic(`firstroot:${text}`));
      assert.equal(lifted.status, 200, lifted.text);
    });
  });
}
