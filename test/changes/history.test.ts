import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { after, before, describe, it } from 'node:test';
import { type Model, readModel } from '../../packages/rebac/src/rebac.ts';
import { createGraphStore } from '../../src/authz/graphs.store.ts';
import { createGraphs } from '../../src/authz/graphs.ts';
import { DEFAULT_LIMITS } from '../../src/base/config/limits.ts';
import { createQuotas } from '../../src/changes/quotas.store.ts';
import { createRevisionStore } from '../../src/changes/revision.store.ts';
import { createRevisions, type Moment } from '../../src/changes/revision.ts';
import { only } from '../../src/db/db.ts';
import { createCallerStore } from '../../src/identity/callers.store.ts';
import { createCallers } from '../../src/identity/callers.ts';
import { createTokenIssuerStore } from '../../src/identity/tokens/token-issuer.store.ts';
import { createTokenIssuer, type TokenIssuer } from '../../src/identity/tokens/token-issuer.ts';
import { DRIVERS } from '../support/server/db.ts';
import { openTestServer, type TestServer } from '../support/server/server.ts';
import { statement } from '../support/server/statement.ts';
import { addMember, makePerson, removeMember, setActive } from '../support/world/people.ts';

const NOW = new Date();
const NOW_AT = statement('select value as revision, stamp from revision');
const STAMPS = statement('select revision, stamp from revision_stamp order by revision');
const NEXT_OF_OLD_RELEASE = statement(
  `with next as (update revision set value = value + 1 where id = 1 returning value)
   insert into change (revision, kind, id, organization_id)
   select next.value, c.kind, c.id, c.organization_id
     from next, unnest($1::text[], $2::bigint[], $3::bigint[]) as c (kind, id, organization_id)
   returning revision`,
);

for (const driver of DRIVERS) {
  describe(`Histories on ${driver}`, () => {
    const key = randomBytes(32);
    let atrium: TestServer;
    let tokens: TokenIssuer;
    let model: Model;
    before(async () => {
      model = await readModel(readFileSync('src/authz/platform.fga', 'utf8'));
      atrium = await openTestServer({ driver });
      tokens = createTokenIssuer(
        createTokenIssuerStore(atrium.instance.revisions.write, createQuotas(DEFAULT_LIMITS)),
        key,
      );
    });
    after(() => atrium.close());

    /** A process that asks for the revision, as every replica does. */
    function openReplica() {
      const { db } = atrium.instance;
      const revisions = createRevisions({ ...createRevisionStore(db), onlyWriter: false });
      const callers = createCallers(createCallerStore(db), revisions, key);
      return {
        revisions,
        callers,
        graphs: createGraphs(createGraphStore(db), revisions, model, 1 << 24),
      };
    }

    async function moment(): Promise<Moment> {
      return only(await atrium.instance.db.query<{ revision: bigint; stamp: string }>(NOW_AT));
    }

    /** What a standby has that was promoted before it received these commits. */
    async function loseCommitsAfter({ revision, stamp }: Moment): Promise<void> {
      await atrium.instance.db.migration(async (_query, script) => {
        await script(`
          alter table revision disable trigger user;
          update revision set value = ${revision}, stamp = '${stamp}';
          alter table revision enable trigger user;
          delete from revision_stamp where revision > ${revision};
          delete from change where revision > ${revision}`);
      }, 1000);
    }

    const anything = () => setActive(atrium.instance, atrium.world.users.eve?.id ?? 0n, true);

    for (const later of [1, 2, 3]) {
      const where = ['below', 'at', 'above'][later - 1];
      it(`What was revoked after two lost commits is noticed ${where} the known revision on ${driver}`, async () => {
        const { instance, world } = atrium;
        const person = await makePerson(atrium);
        const { id: acme = 0n, teams } = world.orgs.acme ?? assert.fail();
        const viewers = teams.Viewers ?? assert.fail();
        await addMember(instance, viewers, person.id);
        const token = await tokens.issue({ accountId: person.id, name: 'x', scopes: ['all'] });
        const kept = await tokens.issue({ accountId: person.id, name: 'y', scopes: ['all'] });
        const { revisions, callers, graphs } = openReplica();
        const standby = await moment();
        await anything();
        await anything();
        // Knows revision 105, and remembers everything as of that.
        assert.ok((await callers.byToken(token.text, NOW)).person.organizations.has(acme));
        assert.ok((await callers.byToken(kept.text, NOW)).person.organizations.has(acme));
        const isMember = async () =>
          [...(await graphs.of(acme)).tuplesOf(`team:${viewers}`)].some(({ user }) => user === `user:${person.id}`);
        assert.ok(await isMember());
        const known = revisions.latest;

        await loseCommitsAfter(standby);
        await tokens.revoke(token.id);
        if (later >= 2) await removeMember(instance, viewers, person.id);
        if (later >= 3) await anything();
        assert.equal((await moment()).revision - known, BigInt(later - 2));
        await assert.rejects(callers.byToken(token.text, NOW), { kind: 'unauthenticated' });
        const after = await callers.byToken(kept.text, NOW);
        assert.equal(after.person.organizations.has(acme), later === 1);
        assert.equal(await isMember(), later === 1);
      });
    }

    it(`The same number with another stamp is another history on ${driver}`, async () => {
      const { revisions } = openReplica();
      const standby = await moment();
      await anything();
      await revisions.current();
      const heard: string[] = [];
      revisions.listen({ forget: ({ kind }) => heard.push(kind), forgetAll: () => heard.push('everything') });
      await loseCommitsAfter(standby);
      await anything();
      assert.equal((await moment()).revision, revisions.latest);
      await revisions.current();
      assert.deepEqual(heard, ['everything']);
      await anything();
      await revisions.current();
      // The account, and the account as a member of its organization.
      assert.deepEqual(heard, ['everything', 'account', 'account']);
    });

    it(`Whoever knows a revision that was not lost forgets only what changed on ${driver}`, async () => {
      const { revisions } = openReplica();
      const standby = await moment();
      await revisions.current();
      const heard: string[] = [];
      revisions.listen({ forget: ({ kind }) => heard.push(kind), forgetAll: () => heard.push('everything') });
      await anything();
      await loseCommitsAfter(standby);
      await anything();
      await anything();
      await revisions.current();
      assert.deepEqual(heard, ['account', 'account', 'account', 'account']);
    });

    it(`A value that was loaded from the lost history is neither used nor remembered on ${driver}`, async () => {
      const person = await makePerson(atrium);
      const { db } = atrium.instance;
      const standby = await moment();
      await anything();
      const lost = await tokens.issue({ accountId: person.id, name: 'lost', scopes: ['all'] });
      const revisions = createRevisions({ ...createRevisionStore(db), onlyWriter: false });
      const read = Promise.withResolvers<void>();
      const held = Promise.withResolvers<void>();
      const store = createCallerStore(db);
      const callers = createCallers(
        {
          ...store,
          async byToken(hash) {
            const loaded = await store.byToken(hash);
            read.resolve();
            await held.promise;
            return loaded;
          },
        },
        revisions,
        key,
      );
      const early = callers.byToken(lost.text, NOW).then(
        ({ tokenId }) => tokenId,
        () => undefined,
      );
      await read.promise;
      await loseCommitsAfter(standby);
      await db.query(statement('delete from token where id = $1'), [lost.id]);
      await anything();
      // These arrive after the failover. The load that is still under way began before it.
      const late = [callers.byToken(lost.text, NOW), callers.byToken(lost.text, NOW)];
      await revisions.current();
      held.resolve();
      await early;
      for (const one of late) await assert.rejects(one, { kind: 'unauthenticated' });
      await assert.rejects(callers.byToken(lost.text, NOW), { kind: 'unauthenticated' });
    });

    it(`A release that knows nothing of stamps writes them on ${driver}`, async () => {
      const { db } = atrium.instance;
      const before = await moment();
      await db.query(NEXT_OF_OLD_RELEASE, [['account'], [1n], [null]]);
      const next = await moment();
      assert.equal(next.revision, before.revision + 1n);
      assert.notEqual(next.stamp, before.stamp);
      assert.deepEqual((await db.query<Record<string, unknown>>(STAMPS)).slice(-2), [before, next]);
    });

    it(`A pruned revision has no stamp, and the last pruned one still has its own, on ${driver}`, async () => {
      const { db, revisions } = atrium.instance;
      await anything();
      const kept = await moment();
      await anything();
      await revisions.prune(1n);
      assert.deepEqual(await db.query(STAMPS), [kept, await moment()]);
    });
  });
}
