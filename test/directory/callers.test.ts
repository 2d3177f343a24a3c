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
  describe(`Credential lookup on ${driver}`, () => {
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

    it(`A token resolves to its owner with the highest permission in each organization on ${driver}`, async () => {
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

    it(`A session resolves to its owner until it is closed on ${driver}`, async () => {
      const session = await sessions.open(id('ann'), false, new Date());
      const found = await store.bySession(hashSecret(key, session.text));
      assert.equal(found.value?.person.login, 'ann');
      assert.equal(found.value?.csrf, session.csrf);
      await sessions.close(session.text);
      assert.equal((await store.bySession(hashSecret(key, session.text))).value, undefined);
      await sessions.close(session.text);
    });

    it(`Only a user name or a verified email address resolves to a user on ${driver}`, async () => {
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

    it(`Only the name of an organization resolves to an organization on ${driver}`, async () => {
      assert.deepEqual((await store.organization('acme')).value, { id: house.world.orgs.acme?.id, name: 'acme' });
      for (const none of ['ann', 'nowhere', '']) assert.equal((await store.organization(none)).value, undefined);
    });

    it(`A lookup without a result still reports the current revision on ${driver}`, async () => {
      const now = await revision();
      const absent = await store.byToken(hashSecret(key, mintToken()));
      assert.deepEqual(absent, { revision: now, value: undefined });
    });

    it(`A write that records a change takes the next revision and a failed write takes none on ${driver}`, async () => {
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

    it(`Concurrent writes each take their own revision on ${driver}`, async () => {
      const before = await revision();
      await Promise.all(Array.from({ length: 20 }, () => house.house.people.setActive(id('eve'), true)));
      assert.equal(await revision(), before + 20n);
    });

    it(`Answers stay correct after the change history is pruned on ${driver}`, async () => {
      await house.as('cat')('GET', '/user');
      await house.house.people.setActive(id('cat'), false);
      await house.house.clock.prune(0n);
      assert.equal((await house.as('cat')('GET', '/user')).status, 403);
      await house.house.people.setActive(id('cat'), true);
      assert.equal((await house.as('cat')('GET', '/user')).status, 200);
    });

    it(`Changing a missing record is reported as not found, removing the last owner as a conflict, on ${driver}`, async () => {
      await assert.rejects(tokens.revoke(999_999n), { kind: 'notFound' });
      await assert.rejects(house.house.people.setActive(999_999n, true), { kind: 'notFound' });
      const owners = house.world.orgs.acme?.teams.Owners ?? 0n;
      await assert.rejects(house.house.organizations.removeMember(owners, id('eve')), { kind: 'notFound' });
      await assert.rejects(house.house.organizations.removeMember(owners, id('ann')), { kind: 'conflict' });
    });

    it(`A token with an unknown scope or a name already in use is rejected on ${driver}`, async () => {
      const issue = (name: string, scopes: string[]) => tokens.issue({ accountId: id('ann'), name, scopes });
      await assert.rejects(issue('odd', ['all', 'sudo']), { kind: 'invalid', message: 'unknown token scope: sudo' });
      await issue('twice', ['all']);
      await assert.rejects(issue('twice', ['all']), { kind: 'malformed', message: /used already/ });
    });
  });
}
