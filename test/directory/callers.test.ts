import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { sql } from '../../src/db/db.ts';
import { createCallerStore } from '../../src/directory/callers.store.ts';
import type { CallerStore } from '../../src/directory/callers.ts';
import { createSessionStore } from '../../src/directory/sessions.store.ts';
import { createSessions, type Sessions } from '../../src/directory/sessions.ts';
import { hashSecret, mintToken } from '../../src/directory/token-text.ts';
import { createTokenStore } from '../../src/directory/tokens.store.ts';
import { createTokens, type Tokens } from '../../src/directory/tokens.ts';
import { DRIVERS } from '../support/db.ts';
import { openTestHouse, type TestHouse } from '../support/house.ts';

for (const driver of DRIVERS) {
  describe(`who is behind a credential, on ${driver}`, () => {
    const key = randomBytes(32);
    let house: TestHouse;
    let store: CallerStore;
    let tokens: Tokens;
    let sessions: Sessions;
    before(async () => {
      house = await openTestHouse({ driver });
      const { db, clock } = house.house;
      store = createCallerStore(db);
      tokens = createTokens(createTokenStore(clock.write), key);
      sessions = createSessions(createSessionStore(clock.write), key);
    });
    after(() => house.close());
    const id = (name: string) => house.world.users[name]?.id ?? assert.fail(name);
    const revision = async () => {
      await house.house.clock.current();
      return house.house.clock.revision;
    };

    it('a token leads to its owner, with all their organizations and their highest permission in each', async () => {
      const { acme } = house.world.orgs;
      await house.house.organizations.addMember(acme?.teams.Viewers ?? 0n, id('bob'));
      const { text, id: tokenId } = await tokens.issue({
        accountId: id('bob'),
        name: 'x',
        scopes: ['read:user'],
      });
      const { value } = await store.byToken(hashSecret(key, text));
      assert.equal(value?.person.login, 'bob');
      assert.equal(value?.person.email, 'bob@example.com');
      assert.deepEqual(value?.person.organizations, new Map([[acme?.id, 'write']]));
      assert.deepEqual(
        [value?.tokenId, value?.scopes, value?.robotId, value?.expiresAt],
        [tokenId, ['read:user'], null, null],
      );
    });

    it('a session leads to its owner until it is closed', async () => {
      const session = await sessions.open(id('ann'), false, new Date());
      const found = await store.bySession(hashSecret(key, session.text));
      assert.equal(found.value?.person.login, 'ann');
      assert.equal(found.value?.csrf, session.csrf);
      await sessions.close(session.text);
      assert.equal((await store.bySession(hashSecret(key, session.text))).value, undefined);
      await sessions.close(session.text);
    });

    it('a name or a verified address leads to a person, an organization or a foreign address does not', async () => {
      const unverified = sql(
        'test.email',
        `insert into email (account_id, address, verified, is_primary) values ($1, $2, false, false)`,
      );
      await house.house.db.query(unverified, [id('ann'), 'ann@home.example']);
      const loginOf = async (login: string) => (await store.byLogin(login)).value?.login;
      assert.equal(await loginOf('ann'), 'ann');
      assert.equal(await loginOf('ann@example.com'), 'ann');
      for (const nobody of ['acme', 'ann@home.example', 'nobody', '', "' or true --"])
        assert.equal(await loginOf(nobody), undefined);
    });

    it('a name leads to an organization, not to a person', async () => {
      assert.deepEqual((await store.organization('acme')).value, { id: house.world.orgs.acme?.id, name: 'acme' });
      for (const none of ['ann', 'nowhere', '']) assert.equal((await store.organization(none)).value, undefined);
    });

    it('what is not there still has the revision of its moment', async () => {
      const now = await revision();
      const absent = await store.byToken(hashSecret(key, mintToken()));
      assert.deepEqual(absent, { revision: now, value: undefined });
    });

    it('a write that touches takes the next revision, and one that fails takes none', async () => {
      const before = await revision();
      await house.house.people.setActive(id('eve'), true);
      assert.equal(await revision(), before + 1n);
      const taken = { name: 'Eve', email: 'other@example.com' };
      await assert.rejects(house.house.people.create(taken), { kind: 'malformed', message: 'name is taken: Eve' });
      const used = { name: 'evelyn', email: 'EVE@example.com' };
      await assert.rejects(house.house.people.create(used), { kind: 'malformed', message: /in use/ });
      await sessions.open(id('eve'), false, new Date());
      assert.equal(await revision(), before + 1n);
    });

    it('two who write at once take two revisions, whoever is first', async () => {
      const before = await revision();
      await Promise.all(Array.from({ length: 20 }, () => house.house.people.setActive(id('eve'), true)));
      assert.equal(await revision(), before + 20n);
    });

    it('a history that was pruned makes a reader forget everything, and know again', async () => {
      await house.as('cat')('GET', '/user');
      await house.house.people.setActive(id('cat'), false);
      await house.house.clock.prune(0n);
      assert.equal((await house.as('cat')('GET', '/user')).status, 403);
      await house.house.people.setActive(id('cat'), true);
      assert.equal((await house.as('cat')('GET', '/user')).status, 200);
    });

    it('removing what is not there is told', async () => {
      await assert.rejects(tokens.revoke(999_999n), { kind: 'notFound' });
      await assert.rejects(house.house.people.setActive(999_999n, true), { kind: 'notFound' });
      const owners = house.world.orgs.acme?.teams.Owners ?? 0n;
      await assert.rejects(house.house.organizations.removeMember(owners, id('eve')), { kind: 'notFound' });
      await assert.rejects(house.house.organizations.removeMember(owners, id('ann')), { kind: 'conflict' });
    });

    it('a token cannot have a scope that does not exist, nor a name that is used already', async () => {
      const issue = (name: string, scopes: string[]) => tokens.issue({ accountId: id('ann'), name, scopes });
      await assert.rejects(issue('odd', ['all', 'sudo']), { kind: 'invalid', message: 'unknown token scope: sudo' });
      await issue('twice', ['all']);
      await assert.rejects(issue('twice', ['all']), { kind: 'malformed', message: /used already/ });
    });
  });
}
