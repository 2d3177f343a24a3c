import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { DEFAULT_LIMITS } from '../../src/base/config/limits.ts';
import { createQuotas } from '../../src/changes/quotas.store.ts';
import { createRevisionStore } from '../../src/changes/revision.store.ts';
import { createRevisions } from '../../src/changes/revision.ts';
import { sql } from '../../src/db/db.ts';
import { createCallerStore } from '../../src/identity/callers.store.ts';
import type { CallerStore } from '../../src/identity/callers.ts';
import { createSessionStore } from '../../src/identity/sessions/sessions.store.ts';
import { createSessions, type Sessions } from '../../src/identity/sessions/sessions.ts';
import { createTokenIssuerStore } from '../../src/identity/tokens/token-issuer.store.ts';
import { createTokenIssuer, type TokenIssuer } from '../../src/identity/tokens/token-issuer.ts';
import { hashSecret, mintToken } from '../../src/identity/tokens/token-text.ts';
import { DRIVERS } from '../support/server/db.ts';
import { openTestServer, type TestServer } from '../support/server/server.ts';
import { addMember, removeMember, setActive } from '../support/world/people.ts';

const SET_ACTIVE = sql('test.setActive', 'update account set active = $2 where id = $1');

for (const driver of DRIVERS) {
  describe(`Credential lookup on ${driver}`, () => {
    const key = randomBytes(32);
    let atrium: TestServer;
    let store: CallerStore;
    let tokens: TokenIssuer;
    let sessions: Sessions;
    before(async () => {
      atrium = await openTestServer({ driver });
      const { db, revisions } = atrium.instance;
      store = createCallerStore(db);
      const quotas = createQuotas(DEFAULT_LIMITS);
      tokens = createTokenIssuer(createTokenIssuerStore(revisions.write, quotas), key);
      sessions = createSessions(createSessionStore(db, revisions.write, quotas), key, async () => undefined);
    });
    after(() => atrium.close());
    const id = (name: string) => atrium.world.users[name]?.id ?? assert.fail(name);
    const revision = async () => {
      await atrium.instance.revisions.current();
      return atrium.instance.revisions.latest;
    };

    it(`A token resolves to its owner with the highest permission in each organization on ${driver}`, async () => {
      const { acme } = atrium.world.orgs;
      await addMember(atrium.instance, acme?.teams.Viewers ?? 0n, id('bob'));
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
        [value?.tokenId, value?.scopes, value?.robot, value?.expiresAt],
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
      await atrium.instance.db.query(unverified, [id('ann'), 'ann@home.example']);
      const loginOf = async (login: string) => (await store.byLogin(login)).value?.login;
      assert.equal(await loginOf('ann'), 'ann');
      assert.equal(await loginOf('ann@example.com'), 'ann');
      for (const nobody of ['acme', 'ann@home.example', 'nobody', '', "' or true --"])
        assert.equal(await loginOf(nobody), undefined);
    });

    it(`Only the name of an organization resolves to an organization on ${driver}`, async () => {
      assert.deepEqual((await store.organization('acme')).value, { id: atrium.world.orgs.acme?.id, name: 'acme' });
      for (const none of ['ann', 'nowhere', '']) assert.equal((await store.organization(none)).value, undefined);
    });

    it(`A lookup without a result still reports the current revision on ${driver}`, async () => {
      const now = await revision();
      const absent = await store.byToken(hashSecret(key, mintToken()));
      assert.deepEqual([absent.revision, absent.value], [now, undefined]);
      assert.ok(atrium.instance.revisions.isLatest(absent));
    });

    it(`A write that records a change takes the next revision and a failed write takes none on ${driver}`, async () => {
      const before = await revision();
      await setActive(atrium.instance, id('eve'), true);
      assert.equal(await revision(), before + 1n);
      const taken = { name: 'Eve', email: 'other@example.com' };
      await assert.rejects(atrium.instance.features.users.create(taken), {
        kind: 'malformed',
        message: 'name is taken: Eve',
      });
      const used = { name: 'evelyn', email: 'EVE@example.com' };
      await assert.rejects(atrium.instance.features.users.create(used), { kind: 'malformed', message: /in use/ });
      await sessions.open(id('eve'), false, new Date());
      assert.equal(await revision(), before + 1n);
    });

    it(`Concurrent writes each take their own revision on ${driver}`, async () => {
      const before = await revision();
      await Promise.all(Array.from({ length: 20 }, () => setActive(atrium.instance, id('eve'), true)));
      assert.equal(await revision(), before + 20n);
    });

    it(`Answers stay correct after the change history is pruned on ${driver}`, async () => {
      await atrium.as('cat')('GET', '/user');
      await setActive(atrium.instance, id('cat'), false);
      await atrium.instance.revisions.prune(0n);
      assert.equal((await atrium.as('cat')('GET', '/user')).status, 403);
      await setActive(atrium.instance, id('cat'), true);
      assert.equal((await atrium.as('cat')('GET', '/user')).status, 200);
    });

    it(`A write that touches thousands of accounts is noticed, although no change names them, on ${driver}`, async () => {
      const { db, revisions } = atrium.instance;
      const replica = createRevisions({ ...createRevisionStore(db), onlyWriter: false });
      const heard: string[] = [];
      replica.listen({ forget: ({ kind }) => heard.push(kind), forgetAll: () => heard.push('everything') });
      await replica.current();
      const others = Array.from({ length: 5000 }, (_, at) => BigInt(1_000_000 + at));
      for (const isActive of [false, true]) {
        await atrium.as('cat')('GET', '/user');
        heard.length = 0;
        await revisions.write(async (query, touch) => {
          await query(SET_ACTIVE, [id('cat'), isActive]);
          for (const account of [...others, id('cat')]) touch({ kind: 'account', id: account });
        });
        assert.equal((await atrium.as('cat')('GET', '/user')).status, isActive ? 200 : 403);
        await replica.current();
        assert.deepEqual(heard, ['everything']);
      }
      await setActive(atrium.instance, id('cat'), true);
      await replica.current();
      // The account, and the account as a member of the organization.
      assert.deepEqual(heard, ['everything', 'account', 'account']);
    });

    it(`Changing a missing record is reported as not found, removing the last owner as a conflict, on ${driver}`, async () => {
      await assert.rejects(tokens.revoke(999_999n), { kind: 'notFound' });
      await assert.rejects(setActive(atrium.instance, 999_999n, true), { kind: 'notFound' });
      const owners = atrium.world.orgs.acme?.teams.Owners ?? 0n;
      await assert.rejects(removeMember(atrium.instance, owners, id('eve')), /not a member/);
      await assert.rejects(removeMember(atrium.instance, owners, id('ann')), /last owner/);
    });

    it(`A token with an unknown scope or a name already in use is rejected on ${driver}`, async () => {
      const issue = (name: string, scopes: string[]) => tokens.issue({ accountId: id('ann'), name, scopes });
      await assert.rejects(issue('odd', ['all', 'sudo']), { kind: 'invalid', message: 'unknown token scope: sudo' });
      await issue('twice', ['all']);
      await assert.rejects(issue('twice', ['all']), { kind: 'malformed', message: /used already/ });
    });
  });
}
