import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { COUNTED_DRIVERS } from '../../support/server/drivers.ts';
import { statement } from '../../support/server/statement.ts';
import { type PlainEntry, writePlainEntries } from '../../support/world/plain-entries.ts';
import { openPlainLogs, type PlainLogs } from '../../support/world/plain-logs.ts';

const IS_ATTESTING = (id: number | bigint | string) =>
  `action = 'user.erase' and object_id = ${id} and after is not null`;

for (const driver of COUNTED_DRIVERS) {
  describe(`Erasing a person from entries of earlier releases on ${driver}`, () => {
    let logs: PlainLogs;
    before(async () => {
      logs = await openPlainLogs(driver);
    });
    after(() => logs.close());

    it(`Nothing of the name is left, and every log is intact because the deployment attests it, on ${driver}`, async () => {
      const { person, owner, org, ids, erase } = await logs.makeLog();
      assert.ok((await logs.placesOf(person.name)).includes('audit.actor_name'));
      const before = await logs.verify(org.name);
      assert.deepEqual([before.ok, before.erased], [true, 0]);
      await erase();
      assert.deepEqual(await logs.placesOf(person.name), []);
      const after = await logs.verify(org.name);
      assert.deepEqual([after.ok, after.erased, after.rows], [true, 5, before.rows]);
      const deployment = await logs.verify('0');
      assert.deepEqual([deployment.ok, deployment.erased], [true, 1]);
      const lines = readFileSync(await logs.exported(org.name), 'utf8')
        .trimEnd()
        .split('\n');
      const erased = lines.map((line) => JSON.parse(line)).filter((line) => line.erased);
      assert.deepEqual(
        erased.map(({ id }) => BigInt(id)),
        [0, 2, 3, 4, 5].map((place) => ids[place]),
      );
      const [own, member, behalf, sudo, invited] = erased;
      const name = `erased user ${person.id}`;
      assert.deepEqual([own.actor.name, member.after.username, behalf.on_behalf_of.name], [name, name, name]);
      assert.deepEqual([sudo.actor.name, sudo.on_behalf_of.name, invited.after.email], [name, owner.name, name]);
      assert.deepEqual([own.before, own.after], [{ name: 'a' }, { name: 'b' }], 'what was done stays');
      assert.equal(invited.after.invitedBy.name, owner.name, 'other people stay');
      const page = (await logs.root('GET', `/admin/audit?action=user.erase&object=user:${person.id}`)).body.items;
      const attested = page.flatMap(
        (entry: { after: { entries: { hash: string }[] } | null }) => entry.after?.entries ?? [],
      );
      const deploymentLines = readFileSync(await logs.exported('0'), 'utf8')
        .trimEnd()
        .split('\n');
      const all = [
        ...erased,
        ...deploymentLines.map((line) => JSON.parse(line)).filter((line) => line.erased && BigInt(line.id) === ids[6]),
      ];
      assert.deepEqual(
        attested,
        all.map((line) => ({ organizationId: String(line.organization_id), id: String(line.id), hash: line.hash })),
      );
    });

    it(`What archived entries are kept for is erased, too, and the log calls the person by number, on ${driver}`, async () => {
      const { person, owner, ids, erase } = await logs.makeLog();
      const by = { type: 'user', id: String(person.id), name: person.name };
      await logs.query(
        `insert into audit_kept (id, organization_id, action, actor_id, at, after, hash, token_id)
         select ${ids[0]}, account_id, 'token.create', account_id, now(),
                '${JSON.stringify({ by, reviewers: [person.name, owner.name] })}', '\\x00', id
           from token where account_id = ${owner.id} limit 1`,
      );
      assert.ok((await logs.placesOf(person.name)).includes('audit_kept.after'));
      await erase();
      assert.deepEqual(await logs.placesOf(person.name), []);
      const [kept] = await logs.query<{ after: string }>(`select after from audit_kept where id = ${ids[0]}`);
      const name = `erased user ${person.id}`;
      assert.deepEqual(JSON.parse(kept?.after ?? ''), { by: { ...by, name }, reviewers: [name, owner.name] });
      const { items } = (await logs.root('GET', `/admin/audit?action=user.create&object=user:${person.id}`)).body;
      assert.ok(items.length > 0);
      for (const { object, summary } of items) {
        assert.equal(object.name, name);
        assert.match(summary, new RegExp(name));
      }
    });

    it(`An entry that was erased outside the server is broken, on ${driver}`, async () => {
      const { org, ids } = await logs.makeLog();
      await logs.query(`update audit set actor_name = 'erased user 9', is_erased = true where id = ${ids[1]}`);
      const { ok, first_broken_id: broken, problem } = await logs.verify(org.name);
      assert.deepEqual([ok, BigInt(broken), problem], [false, ids[1], 'erasure_unattested']);
      const archive = [
        'archive',
        '--before',
        new Date().toISOString(),
        '--to',
        join(logs.folder, `no-${org.name}`),
        '--org',
      ];
      await assert.rejects(logs.command(...archive, org.name), /was changed outside the server, at its entry/);
    });

    it(`An attestation that was changed attests nothing, on ${driver}`, async () => {
      const { person, org, organizationId, erase } = await logs.makeLog();
      await erase();
      assert.equal((await logs.verify(org.name)).ok, true);
      await logs.query(
        `update audit set after = replace(after::text, '"organizationId":"${organizationId}"', '"organizationId": "${organizationId}"')::json
          where ${IS_ATTESTING(person.id)}`,
      );
      assert.deepEqual([(await logs.verify(org.name)).ok, (await logs.verify('0')).ok], [false, false]);
      await logs.query(
        `update audit set after = replace(after::text, '": "', '":"')::json where ${IS_ATTESTING(person.id)}`,
      );
      assert.deepEqual([(await logs.verify(org.name)).ok, (await logs.verify('0')).ok], [true, true]);
    });

    it(`People who are erased together are each attested, on ${driver}`, async () => {
      const [one, other] = [await logs.makeLog(), await logs.makeLog()];
      const both: PlainEntry = {
        ...{ organizationId: one.organizationId, action: 'role.update', object: ['role', 7n] },
        actor: { id: BigInt(one.person.id), name: one.person.name },
        onBehalfOf: { id: BigInt(other.person.id), name: other.person.name },
      };
      const [id] = await writePlainEntries(logs.atrium, [both]);
      await one.erase();
      await other.erase();
      await logs.query(
        `update erasure set finished_at = null, plain_id = 0 where account_id in (${one.person.id}, ${other.person.id})`,
      );
      const more = await writePlainEntries(logs.atrium, [both]);
      await logs.atrium.instance.features.finishErasures();
      for (const { person } of [one, other]) {
        assert.deepEqual(await logs.placesOf(person.name), []);
        const listed = await logs.query<{ id: string }>(
          `select e->>'id' as id from audit, json_array_elements(after->'entries') e where ${IS_ATTESTING(person.id)}`,
        );
        for (const entry of [id, ...more])
          assert.ok(
            listed.some((each) => each.id === String(entry)),
            String(entry),
          );
      }
      assert.equal((await logs.verify(one.org.name)).ok, true);
    });

    it(`Many entries are erased in parts, each with an entry that attests it, on ${driver}`, async () => {
      const { person, org, organizationId, erase } = await logs.makeLog();
      const actor = { id: BigInt(person.id), name: person.name };
      const entry: PlainEntry = { organizationId, actor, action: 'role.update', object: ['role', 7n] };
      await writePlainEntries(
        logs.atrium,
        Array.from({ length: 600 }, () => entry),
      );
      await erase();
      const after = await logs.verify(org.name);
      assert.deepEqual([after.ok, after.erased], [true, 605]);
      const attesting = await logs.query<{ total: number }>(
        `select json_array_length(after->'entries') as total from audit where ${IS_ATTESTING(person.id)}`,
      );
      assert.ok(attesting.length >= 2 && attesting.every(({ total }) => total <= 500), JSON.stringify(attesting));
      assert.equal(
        attesting.reduce((sum, { total }) => sum + total, 0),
        606,
      );
    });

    // The built-in database has no other transaction that an erasure could wait for.
    if (driver === 'postgres') {
      it('An erasure that takes long answers before it is done, and goes on', async () => {
        const { person, ids, erase } = await logs.makeLog();
        await logs.atrium.instance.db.transaction(async (inside) => {
          await inside(statement(`select 1 from audit where id = ${ids[0]} for update`));
          await erase();
          assert.ok((await logs.placesOf(person.name)).includes('audit.actor_name'));
        });
        await logs.atrium.instance.features.finishErasures();
        assert.deepEqual(await logs.placesOf(person.name), []);
      });
    }

    it(`What a crash left is erased by the next upkeep, on ${driver}`, async () => {
      const { person, org, erase } = await logs.makeLog();
      await erase();
      const [entry] = await writePlainEntries(logs.atrium, [
        {
          ...{ organizationId: 0n, action: 'user.update', object: ['user', BigInt(person.id)] },
          ...{ actor: { id: 1n, name: 'root' }, after: { fullName: 'Frieda Left' } },
        },
      ]);
      await logs.query(`update erasure set finished_at = null where account_id = ${person.id}`);
      await Promise.all([
        logs.atrium.instance.features.finishErasures(),
        logs.atrium.instance.features.finishErasures(),
      ]);
      assert.deepEqual(await logs.placesOf('Frieda Left'), []);
      const [row] = await logs.query<{ is_erased: boolean }>(`select is_erased from audit where id = ${entry}`);
      assert.equal(row?.is_erased, true);
      assert.equal((await logs.verify('0')).ok, true);
      assert.equal((await logs.verify(org.name)).ok, true);
      const [left] = await logs.query<{ identifiers: string[] | null; done: boolean }>(
        `select identifiers, finished_at is not null as done from erasure where account_id = ${person.id}`,
      );
      assert.deepEqual(left, { identifiers: null, done: true });
    });
  });
}
