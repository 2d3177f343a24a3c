import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { verifyFiles } from '../../../cli/audit-file.ts';
import { COUNTED_DRIVERS } from '../../support/server/drivers.ts';
import { type PlainEntry, writePlainEntries } from '../../support/world/plain-entries.ts';
import { openPlainLogs, type PlainLogs } from '../../support/world/plain-logs.ts';

const IS_ATTESTING = (id: number | bigint | string) =>
  `action = 'user.erase' and object_id = ${id} and after is not null`;

for (const driver of COUNTED_DRIVERS) {
  describe(`Exports and archives of entries of earlier releases on ${driver}`, () => {
    let logs: PlainLogs;
    before(async () => {
      logs = await openPlainLogs(driver);
    });
    after(() => logs.close());

    it(`Without a server, an erased entry is intact only with the entry that attests it, on ${driver}`, async () => {
      const { org, organizationId, erase } = await logs.makeLog();
      await erase();
      const [log, deployment] = [await logs.exported(org.name), await logs.exported('0')];
      const both = await verifyFiles([log, deployment], undefined);
      assert.equal(both.exit, 0, JSON.stringify(both.data));
      const alone = await verifyFiles([log], undefined);
      assert.equal(alone.exit, 1);
      assert.match(JSON.stringify(alone.data), /nothing here attests that: give the key of the deployment with --key/);
      const forged = join(logs.folder, `forged-${org.name}.ndjson`);
      const text = readFileSync(log, 'utf8');
      const plain = text.split('\n').findIndex((line) => line !== '' && !line.includes('"erased":true'));
      const lines = text.split('\n');
      lines[plain] = (lines[plain] ?? '').replace('"previous_hash"', '"erased":true,"previous_hash"');
      writeFileSync(forged, lines.join('\n'));
      const other = await verifyFiles([forged, deployment], undefined);
      assert.equal(other.exit, 1, 'an entry that is not listed');
      const changed = join(logs.folder, `changed-${org.name}.ndjson`);
      const told = readFileSync(deployment, 'utf8');
      writeFileSync(changed, told.replaceAll(`{"organizationId":"${organizationId}",`, '{"organizationId":"1",'));
      assert.equal((await verifyFiles([log, changed], undefined)).exit, 1, 'a changed attestation');
    });

    it(`An owner verifies the log of the organization alone, with the key of the deployment, on ${driver}`, async () => {
      const { owner, org, erase } = await logs.makeLog();
      await erase();
      const exportOf = async (format: string) => {
        const { status, text } = await logs.atrium.as(owner.name)(
          'GET',
          `/orgs/${org.name}/audit/export?format=${format}`,
        );
        assert.equal(status, 200, text);
        const path = join(logs.folder, `own-${org.name}-${format}.ndjson`);
        writeFileSync(path, text);
        return path;
      };
      const { keys } = (await logs.atrium.call('GET', '/.well-known/webhook-keys')).body;
      const key = keys.find(({ use }: { use?: string }) => use === 'audit')?.public_key;
      const other = keys.find(({ use }: { use?: string }) => use !== 'audit')?.public_key;
      const [own, events] = [await exportOf('json'), await exportOf('ocsf')];
      for (const file of [own, events]) {
        const alone = await verifyFiles([file], key);
        assert.equal(alone.exit, 0, JSON.stringify(alone.data));
        assert.deepEqual(
          (alone.data as { erased: number; rows: number }[]).map(({ erased }) => erased),
          [5],
        );
      }
      assert.equal((await verifyFiles([own], other)).exit, 1, 'another key of the deployment');
      assert.equal((await verifyFiles([own], undefined)).exit, 1, 'a signature that is not checked attests nothing');

      const lines = readFileSync(own, 'utf8').trimEnd().split('\n');
      const attested = lines.map((line) => /"attested":\{[^}]*\},/.exec(line)?.[0]);
      assert.equal(attested.filter(Boolean).length, 5);
      const forge = async (change: (line: string, place: number) => string) => {
        const path = join(logs.folder, `forged-own-${org.name}.ndjson`);
        writeFileSync(path, `${lines.map(change).join('\n')}\n`);
        return (await verifyFiles([path], key)).exit;
      };
      const plain = attested.indexOf(undefined);
      const borrowed = `"erased":true,${attested.find(Boolean)}"previous_hash"`;
      assert.equal(
        await forge((line, place) => (place === plain ? line.replace('"previous_hash"', borrowed) : line)),
        1,
      );
      assert.equal(await forge((line) => line.replace(/"attested":\{[^}]*\},/, '')), 1);
      const [first = '', second = ''] = attested.filter((one) => one !== undefined);
      assert.equal(await forge((line) => line.replace(first, second)), 1);
      const at = attested.findIndex((one, place) => place > 1 && one !== undefined);
      const linkOf = (line = '') => /"previous_hash":"[^"]*"/.exec(line)?.[0] ?? '';
      const cut = (line: string, place: number) => (place === at - 1 ? '' : line);
      const relinked = (line: string, place: number) =>
        place === at ? line.replace(linkOf(line), linkOf(lines[at - 1])) : cut(line, place);
      assert.equal(await forge(cut), 1);
      assert.equal(await forge(relinked), 1, 'an entry that was cut out before an erased one');
      const renamed = (line: string, place: number) =>
        place === at ? line.replace('"action":"', '"action":"not.') : line;
      assert.equal(await forge(renamed), 1, 'what is left of an erased entry was changed');

      const page = (await logs.atrium.as(owner.name)('GET', `/orgs/${org.name}/audit`)).body.items;
      assert.ok(
        page.every((entry: { attested?: object }) => entry.attested === undefined),
        'only in exports',
      );

      const role = { name: 'later', permissions: [] };
      assert.equal((await logs.root('POST', `/authz/roles?org=${org.name}`, role)).status, 201);
      const archive = join(logs.folder, `own-archive-${org.name}.ndjson`);
      const moment = new Date(Date.now() + 5);
      await new Promise((resolve) => setTimeout(resolve, 10));
      await logs.command('archive', '--before', moment.toISOString(), '--to', archive, '--org', org.name);
      assert.equal((await verifyFiles([archive, await exportOf('json')], key)).exit, 0);
      await logs.command('restore', archive);
      assert.equal((await logs.verify(org.name)).ok, true);
    });

    it(`An erased entry that the deployment does not attest is logs.exported without a signature, on ${driver}`, async () => {
      const { org, ids, erase } = await logs.makeLog();
      await erase();
      await logs.query(`update audit set actor_name = 'erased user 9', is_erased = true where id = ${ids[1]}`);
      const lines = readFileSync(await logs.exported(org.name), 'utf8')
        .trimEnd()
        .split('\n');
      const forged = lines.find((line) => line.startsWith(`{"id":${ids[1]},`));
      assert.match(forged ?? '', /"erased":true,"previous_hash"/);
    });

    it(`An archive of erased entries verifies with the deployment's, and is restored, on ${driver}`, async () => {
      const { person, org, erase } = await logs.makeLog();
      await erase();
      const role = { name: 'later', permissions: [] };
      assert.equal((await logs.root('POST', `/authz/roles?org=${org.name}`, role)).status, 201);
      await new Promise((resolve) => setTimeout(resolve, 5));
      const archive = join(logs.folder, `archive-${org.name}.ndjson`);
      // The last entry of a log stays, and what attests is to be archived here.
      const later = {
        username: `later-${org.name}`,
        email: `later-${org.name}@example.com`,
        password: 'a long enough password',
      };
      assert.equal((await logs.root('POST', '/admin/users', later)).status, 201);
      const moment = new Date(Date.now() + 5);
      await new Promise((resolve) => setTimeout(resolve, 10));
      const kept = [archive, '--org', org.name, '--org', '0'];
      await logs.command('archive', '--before', moment.toISOString(), '--to', ...kept);
      assert.deepEqual(await logs.query(`select 1 from audit where ${IS_ATTESTING(person.id)}`), []);
      const text = readFileSync(archive, 'utf8');
      assert.ok(!text.includes(person.name));
      assert.match(text, /"erased":true/);
      assert.equal((await verifyFiles([archive], undefined)).exit, 0);
      assert.equal((await logs.verify(org.name)).ok, true);
      await logs.command('restore', archive);
      const restored = await logs.verify(org.name);
      assert.deepEqual([restored.ok, restored.erased], [true, 5]);
    });

    it(`Entries that were archived before are erased before their restore shows them, on ${driver}`, async () => {
      const { person, org, erase } = await logs.makeLog();
      const role = { name: 'later', permissions: [] };
      assert.equal((await logs.root('POST', `/authz/roles?org=${org.name}`, role)).status, 201);
      await new Promise((resolve) => setTimeout(resolve, 5));
      const archive = join(logs.folder, `before-${org.name}.ndjson`);
      await logs.command('archive', '--before', new Date().toISOString(), '--to', archive, '--org', org.name);
      assert.ok(readFileSync(archive, 'utf8').includes(`${person.name}@example.com`));
      await erase();
      assert.deepEqual(await logs.placesOf(person.name), []);
      const identifiers = async () =>
        (
          await logs.query<{ identifiers: string[] | null }>(
            `select identifiers from erasure where account_id = ${person.id}`,
          )
        )[0]?.identifiers;
      const fingerprints = (await identifiers()) ?? [];
      assert.ok(fingerprints.length >= 2, 'the login and the address');
      for (const fingerprint of fingerprints) assert.match(fingerprint, /^hmac-sha256:[0-9a-f]{64}$/);
      await logs.command('restore', archive);
      assert.deepEqual(await logs.placesOf(person.name), []);
      for (const log of [org.name, '0']) {
        const { ok, problem } = await logs.verify(log);
        assert.deepEqual([ok, problem], [true, undefined]);
      }
      assert.equal((await logs.verify(org.name)).erased, 5);
      const text = readFileSync(await logs.exported(org.name), 'utf8');
      assert.equal(
        text.split(`"email":"erased user ${person.id}"`).length,
        2,
        'an address without a number next to it',
      );
      const again = join(logs.folder, `again-${org.name}.ndjson`);
      await logs.command('archive', '--before', new Date().toISOString(), '--to', again, '--org', org.name);
      assert.ok(!readFileSync(again, 'utf8').includes(person.name));
      await logs.command('restore', again);
      assert.equal((await logs.verify(org.name)).ok, true);
      const left = await logs.query<{ first: bigint }>(
        'select first_id as first from audit_segment where first_id <= (select last_id from audit_plain)',
      );
      await logs.atrium.instance.features.finishErasures();
      assert.equal((await identifiers()) === null, left.length === 0, 'kept only while such entries are archived');
    });

    it(`An archive in the middle of an erasure has nothing of the person, on ${driver}`, async () => {
      const { person, org, organizationId, erase } = await logs.makeLog();
      await erase();
      const actor = { id: BigInt(person.id), name: person.name };
      const left: PlainEntry = { organizationId, actor, action: 'role.update', object: ['role', 7n] };
      await writePlainEntries(logs.atrium, [left, { ...left, actor: { id: 1n, name: 'root' } }]);
      await logs.query(`update erasure set finished_at = null, plain_id = 0 where account_id = ${person.id}`);
      await new Promise((resolve) => setTimeout(resolve, 5));
      const archive = join(logs.folder, `middle-${org.name}.ndjson`);
      await logs.command('archive', '--before', new Date().toISOString(), '--to', archive, '--org', org.name);
      const text = readFileSync(archive, 'utf8');
      assert.ok(!text.includes(person.name));
      assert.equal(text.split(`"name":"erased user ${person.id}"},"action":"role.update"`).length, 4);
      assert.equal((await logs.verify(org.name)).ok, true);
      await logs.command('restore', archive);
      assert.equal((await logs.verify(org.name)).ok, true);
    });
  });
}
