import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { verifyFiles } from '../../../cli/audit-file.ts';
import { runInServer } from '../../../src/operations/server-commands.ts';
import { COUNTED_DRIVERS } from '../../support/server/drivers.ts';
import { openTestServer, type TestServer } from '../../support/server/server.ts';
import { statement } from '../../support/server/statement.ts';
import { makeOrganization, makePerson } from '../../support/world/people.ts';
import { type PlainEntry, writePlainEntries } from '../../support/world/plain-entries.ts';

const IS_ATTESTING = (id: number | bigint | string) =>
  `action = 'user.erase' and object_id = ${id} and after is not null`;

for (const driver of COUNTED_DRIVERS) {
  describe(`Erasing a person from entries of earlier releases on ${driver}`, () => {
    let atrium: TestServer;
    const folder = mkdtempSync(join(tmpdir(), 'atrium-plain-entries-'));
    before(async () => {
      atrium = await openTestServer({ driver });
    });
    after(async () => {
      rmSync(folder, { recursive: true, force: true });
      await atrium.close();
    });

    const root = (...send: Parameters<ReturnType<TestServer['as']>>) => atrium.as('root')(...send);
    const query = <Row extends object>(text: string) => atrium.instance.db.query<Row>(statement(text));
    const verify = async (log: string) => (await root('GET', `/admin/audit/verify?from=beginning&org=${log}`)).body;
    const command = (...argv: string[]) => runInServer(atrium.instance, { argv: ['audit', ...argv] }, () => undefined);

    async function exported(log: string): Promise<string> {
      const path = join(folder, `${log}-${Math.random()}.ndjson`);
      writeFileSync(path, (await root('GET', `/admin/audit/export?org=${log}`)).text);
      return path;
    }

    /** A log with entries by and about a person and others; six of them identify the person. */
    async function makeLog() {
      const [person, owner] = [await makePerson(atrium), await makePerson(atrium)];
      const org = await makeOrganization(atrium, owner.name);
      const [found] = await query<{ id: bigint }>(`select id from account where name = '${org.name}'`);
      const organizationId = found?.id ?? 0n;
      const [his, hers] = [
        { id: BigInt(person.id), name: person.name },
        { id: BigInt(owner.id), name: owner.name },
      ];
      const role = { organizationId, action: 'role.update', object: ['role', 7n] } as const;
      const team = { organizationId, object: ['team', BigInt(org.team('Viewers'))] } as const;
      const member = { team: 'Viewers', userId: String(his.id), username: his.name };
      const entries: PlainEntry[] = [
        { ...role, actor: his, before: { name: 'a' }, after: { name: 'b' } },
        { ...role, actor: hers, after: { name: 'c' } },
        { ...team, action: 'team.add_member', actor: hers, after: member },
        { ...role, actor: { id: 1n, name: 'root' }, onBehalfOf: his, after: { name: 'd' } },
        { ...role, actor: his, onBehalfOf: hers, after: { name: 'e' } },
        {
          ...{ organizationId, action: 'invitation.create', object: ['invitation', 3n], actor: hers },
          after: {
            email: `${his.name}@example.com`,
            invitedBy: { type: 'user', id: String(hers.id), name: hers.name },
          },
        },
        {
          ...{ organizationId: 0n, action: 'user.create', object: ['user', his.id], actor: { id: 1n, name: 'root' } },
          after: { username: his.name, email: `${his.name}@example.com`, fullName: `Frieda ${his.name}` },
        },
      ];
      await query(`update email set address = '${his.name}@example.com' where account_id = ${his.id}`);
      const ids = await writePlainEntries(atrium, entries);
      const erase = async () => {
        const erased = await root('DELETE', `/admin/users/${person.name}?erase=true`);
        assert.equal(erased.status, 204, erased.text);
      };
      return { person, owner, org, organizationId, ids, erase };
    }

    /** Where in the database a text is left. The login is reserved for a while. */
    async function placesOf(text: string): Promise<string[]> {
      const columns = await query<{ name: string; column: string }>(
        `select c.table_name as name, c.column_name as column from information_schema.columns c
           join information_schema.tables t using (table_schema, table_name)
          where c.table_schema = 'public' and t.table_type = 'BASE TABLE' and c.table_name <> 'reserved_name'
            and c.data_type in ('text', 'json', 'jsonb', 'ARRAY', 'character varying')`,
      );
      const found: string[] = [];
      for (const { name, column } of columns) {
        const has = `strpos(lower("${column}"::text), lower('${text}')) > 0`;
        if ((await query(`select 1 from "${name}" where ${has} limit 1`)).length > 0) found.push(`${name}.${column}`);
      }
      return found;
    }

    it(`Nothing of the name is left, and every log is intact because the deployment attests it, on ${driver}`, async () => {
      const { person, owner, org, ids, erase } = await makeLog();
      assert.ok((await placesOf(person.name)).includes('audit.actor_name'));
      const before = await verify(org.name);
      assert.deepEqual([before.ok, before.erased], [true, 0]);
      await erase();
      assert.deepEqual(await placesOf(person.name), []);
      const after = await verify(org.name);
      assert.deepEqual([after.ok, after.erased, after.rows], [true, 5, before.rows]);
      const deployment = await verify('0');
      assert.deepEqual([deployment.ok, deployment.erased], [true, 1]);
      const lines = readFileSync(await exported(org.name), 'utf8')
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
      const page = (await root('GET', `/admin/audit?action=user.erase&object=user:${person.id}`)).body.items;
      const attested = page.flatMap(
        (entry: { after: { entries: { hash: string }[] } | null }) => entry.after?.entries ?? [],
      );
      const deploymentLines = readFileSync(await exported('0'), 'utf8')
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
      const { person, owner, ids, erase } = await makeLog();
      const by = { type: 'user', id: String(person.id), name: person.name };
      await query(
        `insert into audit_kept (id, organization_id, action, actor_id, at, after, hash, token_id)
         select ${ids[0]}, account_id, 'token.create', account_id, now(),
                '${JSON.stringify({ by, reviewers: [person.name, owner.name] })}', '\\x00', id
           from token where account_id = ${owner.id} limit 1`,
      );
      assert.ok((await placesOf(person.name)).includes('audit_kept.after'));
      await erase();
      assert.deepEqual(await placesOf(person.name), []);
      const [kept] = await query<{ after: string }>(`select after from audit_kept where id = ${ids[0]}`);
      const name = `erased user ${person.id}`;
      assert.deepEqual(JSON.parse(kept?.after ?? ''), { by: { ...by, name }, reviewers: [name, owner.name] });
      const { items } = (await root('GET', `/admin/audit?action=user.create&object=user:${person.id}`)).body;
      assert.ok(items.length > 0);
      for (const { object, summary } of items) {
        assert.equal(object.name, name);
        assert.match(summary, new RegExp(name));
      }
    });

    it(`Without a server, an erased entry is intact only with the entry that attests it, on ${driver}`, async () => {
      const { org, organizationId, erase } = await makeLog();
      await erase();
      const [log, deployment] = [await exported(org.name), await exported('0')];
      const both = await verifyFiles([log, deployment], undefined);
      assert.equal(both.exit, 0, JSON.stringify(both.data));
      const alone = await verifyFiles([log], undefined);
      assert.equal(alone.exit, 1);
      assert.match(JSON.stringify(alone.data), /no entry user.erase in these files attests that/);
      const forged = join(folder, `forged-${org.name}.ndjson`);
      const text = readFileSync(log, 'utf8');
      const plain = text.split('\n').findIndex((line) => line !== '' && !line.includes('"erased":true'));
      const lines = text.split('\n');
      lines[plain] = (lines[plain] ?? '').replace('"previous_hash"', '"erased":true,"previous_hash"');
      writeFileSync(forged, lines.join('\n'));
      const other = await verifyFiles([forged, deployment], undefined);
      assert.equal(other.exit, 1, 'an entry that is not listed');
      const changed = join(folder, `changed-${org.name}.ndjson`);
      const told = readFileSync(deployment, 'utf8');
      writeFileSync(changed, told.replaceAll(`{"organizationId":"${organizationId}",`, '{"organizationId":"1",'));
      assert.equal((await verifyFiles([log, changed], undefined)).exit, 1, 'a changed attestation');
    });

    it(`An entry that was erased outside the server is broken, on ${driver}`, async () => {
      const { org, ids } = await makeLog();
      await query(`update audit set actor_name = 'erased user 9', is_erased = true where id = ${ids[1]}`);
      const { ok, first_broken_id: broken, problem } = await verify(org.name);
      assert.deepEqual([ok, BigInt(broken), problem], [false, ids[1], 'erasure_unattested']);
      const archive = [
        'archive',
        '--before',
        new Date().toISOString(),
        '--to',
        join(folder, `no-${org.name}`),
        '--org',
      ];
      await assert.rejects(command(...archive, org.name), /was changed outside the server, at its entry/);
    });

    it(`An attestation that was changed attests nothing, on ${driver}`, async () => {
      const { person, org, organizationId, erase } = await makeLog();
      await erase();
      assert.equal((await verify(org.name)).ok, true);
      await query(
        `update audit set after = replace(after::text, '"organizationId":"${organizationId}"', '"organizationId": "${organizationId}"')::json
          where ${IS_ATTESTING(person.id)}`,
      );
      assert.deepEqual([(await verify(org.name)).ok, (await verify('0')).ok], [false, false]);
      await query(
        `update audit set after = replace(after::text, '": "', '":"')::json where ${IS_ATTESTING(person.id)}`,
      );
      assert.deepEqual([(await verify(org.name)).ok, (await verify('0')).ok], [true, true]);
    });

    it(`An archive of erased entries verifies with the deployment's, and is restored, on ${driver}`, async () => {
      const { person, org, erase } = await makeLog();
      await erase();
      const role = { name: 'later', permissions: [] };
      assert.equal((await root('POST', `/authz/roles?org=${org.name}`, role)).status, 201);
      await new Promise((resolve) => setTimeout(resolve, 5));
      const archive = join(folder, `archive-${org.name}.ndjson`);
      // The last entry of a log stays, and what attests is to be archived here.
      const later = {
        username: `later-${org.name}`,
        email: `later-${org.name}@example.com`,
        password: 'a long enough password',
      };
      assert.equal((await root('POST', '/admin/users', later)).status, 201);
      const moment = new Date(Date.now() + 5);
      await new Promise((resolve) => setTimeout(resolve, 10));
      const kept = [archive, '--org', org.name, '--org', '0'];
      await command('archive', '--before', moment.toISOString(), '--to', ...kept);
      assert.deepEqual(await query(`select 1 from audit where ${IS_ATTESTING(person.id)}`), []);
      const text = readFileSync(archive, 'utf8');
      assert.ok(!text.includes(person.name));
      assert.match(text, /"erased":true/);
      assert.equal((await verifyFiles([archive], undefined)).exit, 0);
      assert.equal((await verify(org.name)).ok, true);
      await command('restore', archive);
      const restored = await verify(org.name);
      assert.deepEqual([restored.ok, restored.erased], [true, 5]);
    });

    it(`Entries that were archived before are erased after their restore, on ${driver}`, async () => {
      const { person, org, erase } = await makeLog();
      const role = { name: 'later', permissions: [] };
      assert.equal((await root('POST', `/authz/roles?org=${org.name}`, role)).status, 201);
      await new Promise((resolve) => setTimeout(resolve, 5));
      const archive = join(folder, `before-${org.name}.ndjson`);
      await command('archive', '--before', new Date().toISOString(), '--to', archive, '--org', org.name);
      await erase();
      await command('restore', archive);
      await atrium.instance.features.finishErasures();
      assert.deepEqual(
        (await placesOf(`"${person.name}"`)).filter((place) => place !== 'audit.after'),
        [],
      );
      const after = await verify(org.name);
      assert.equal(after.ok, true, JSON.stringify(after));
      assert.ok(after.erased >= 4, JSON.stringify(after));
    });

    it(`Many entries are erased in parts, each with an entry that attests it, on ${driver}`, async () => {
      const { person, org, organizationId, erase } = await makeLog();
      const actor = { id: BigInt(person.id), name: person.name };
      const entry: PlainEntry = { organizationId, actor, action: 'role.update', object: ['role', 7n] };
      await writePlainEntries(
        atrium,
        Array.from({ length: 600 }, () => entry),
      );
      await erase();
      const after = await verify(org.name);
      assert.deepEqual([after.ok, after.erased], [true, 605]);
      const attesting = await query<{ total: number }>(
        `select json_array_length(after->'entries') as total from audit where ${IS_ATTESTING(person.id)}`,
      );
      assert.ok(attesting.length >= 2 && attesting.every(({ total }) => total <= 500), JSON.stringify(attesting));
      assert.equal(
        attesting.reduce((sum, { total }) => sum + total, 0),
        606,
      );
    });

    it(`What a crash left is erased by the next upkeep, on ${driver}`, async () => {
      const { person, org, erase } = await makeLog();
      await erase();
      const [entry] = await writePlainEntries(atrium, [
        {
          ...{ organizationId: 0n, action: 'user.update', object: ['user', BigInt(person.id)] },
          ...{ actor: { id: 1n, name: 'root' }, after: { fullName: 'Frieda Left' } },
        },
      ]);
      await query(`update erasure set finished_at = null where account_id = ${person.id}`);
      await Promise.all([atrium.instance.features.finishErasures(), atrium.instance.features.finishErasures()]);
      assert.deepEqual(await placesOf('Frieda Left'), []);
      const [row] = await query<{ is_erased: boolean }>(`select is_erased from audit where id = ${entry}`);
      assert.equal(row?.is_erased, true);
      assert.equal((await verify('0')).ok, true);
      assert.equal((await verify(org.name)).ok, true);
      const [left] = await query<{ identifiers: string[] | null; done: boolean }>(
        `select identifiers, finished_at is not null as done from erasure where account_id = ${person.id}`,
      );
      assert.deepEqual(left, { identifiers: null, done: true });
    });
  });
}
