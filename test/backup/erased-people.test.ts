import assert from 'node:assert/strict';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { readConfig } from '../../src/base/config/config.ts';
import { runBackup } from '../../src/operations/commands/backup-command.ts';
import { runRestore } from '../../src/operations/commands/restore-command.ts';
import { newFile } from '../support/server/backup.ts';
import { newPlace, temporaryFolder } from '../support/server/db.ts';
import { COUNTED_DRIVERS } from '../support/server/drivers.ts';
import { reopen } from '../support/server/reopen.ts';
import { newDemoPlace, TEST_KEY } from '../support/server/server.ts';
import { statement } from '../support/server/statement.ts';
import { type PlainEntry, writePlainEntries } from '../support/world/plain-entries.ts';

const settings = ({ dataDir, databaseUrl = '' }: { dataDir: string; databaseUrl?: string | undefined }) =>
  readConfig({ DATA_DIR: dataDir, DATABASE_URL: databaseUrl, ATRIUM_KEY: TEST_KEY });

for (const driver of COUNTED_DRIVERS) {
  describe(`A backup from before a person was erased, on ${driver}`, () => {
    it(`A restore erases the person again before a server starts, from the list beside the database or a copy of it, on ${driver}`, async () => {
      const { place, world } = await newDemoPlace(driver);
      const token = `token ${world.users.root?.token}`;
      const serve = async (work: (send: typeof fetchFrom) => Promise<void>, at = place) => {
        const instance = await reopen(at, { ATRIUM_KEY: TEST_KEY });
        const url = await instance.listen();
        try {
          await work((method, path, body) => fetchFrom(method, path, body, `${url}/api/v1`, token));
        } finally {
          await instance.close(0);
        }
      };
      const told: string[] = [];
      const terminal = { say: (line: string) => void told.push(line), complain: () => undefined, isTerminal: false };
      const { id } = { id: world.users.dan?.id ?? assert.fail() };
      const [before, after] = [newFile(), newFile()];
      await serve(async (send) => {
        assert.equal((await send('PUT', '/admin/users/dan/hold', { reason: 'case 1' })).status, 200);
      });
      await runBackup([before], settings(place), terminal);
      const list = join(place.dataDir, 'erasures.ndjson');
      await serve(async (send) => {
        assert.equal((await send('DELETE', '/admin/users/dan/hold')).status, 204);
        const erased = await send('DELETE', '/admin/users/dan?erase=true');
        assert.equal(erased.status, 204, await erased.text());
        assert.match(readFileSync(list, 'utf8'), new RegExp(`^{"account_id":${id},"erased_at":"[^"]+Z"}\n$`));
      });
      await runBackup([after], settings(place), terminal);
      const isErased = async (at = place) =>
        await serve(async (send) => {
          assert.equal((await send('GET', '/users/dan')).status, 404);
          const text = await (await send('GET', '/admin/audit/export')).text();
          assert.doesNotMatch(text, /"name":"dan"|"text":"dan"/);
          assert.match(text, new RegExp(`"name":"erased user ${id}"`));
          const verdict = await (await send('GET', '/admin/audit/verify?from=beginning&org=acme')).json();
          assert.equal((verdict as { ok: boolean }).ok, true);
        }, at);

      await runRestore([before, '--replace'], settings(place), terminal);
      assert.ok(told.includes('erased 1 person again, as erasures.ndjson says'), told.join('\n'));
      await isErased();

      told.length = 0;
      await runRestore([after, '--replace'], settings(place), terminal);
      assert.ok(!told.some((line) => line.startsWith('erased')), 'the backup knows that it is erased');

      const elsewhere = await newPlace(driver);
      const copy = join(temporaryFolder(), 'copy.ndjson');
      writeFileSync(copy, readFileSync(list));
      await runRestore([before, '--erased', copy], settings(elsewhere), terminal);
      assert.ok(told.includes('erased 1 person again, as copy.ndjson says'), told.join('\n'));
      await isErased(elsewhere);

      told.length = 0;
      rmSync(list);
      await runRestore([before, '--replace'], settings(place), terminal);
      assert.match(told.join('\n'), /people who were erased after .* are back: .*--erased LIST/);
      await serve(async (send) => {
        assert.equal((await send('GET', '/users/dan')).status, 200);
        const log = await (await send('GET', '/admin/audit/export?action=user.erase')).text();
        assert.equal(log, '');
      });
    });
  });
}

describe('Lists of erased people', () => {
  /** For restores that are rejected, which leave it as it is. */
  let kept: ReturnType<typeof makeBackup> | undefined;
  const untouched = () => {
    kept ??= makeBackup();
    return kept;
  };
  async function makeBackup() {
    const { place } = await newDemoPlace();
    const file = newFile();
    const quiet = { say: () => undefined, complain: () => undefined, isTerminal: false };
    await runBackup([file], settings(place), quiet);
    return { place, file, quiet };
  }

  it('Everyone of a long list is erased from entries of earlier releases before the restore ends', async () => {
    const { place } = await newDemoPlace();
    const ids = Array.from({ length: 12 }, (_, number) => 900_001n + BigInt(number));
    const entryOf = (id: bigint): PlainEntry => ({
      ...{ organizationId: 0n, action: 'user.update', object: ['user', id], actor: { id, name: `gone-${id}` } },
      after: { fullName: `Grete Gone ${id}` },
    });
    const before = await reopen(place, { ATRIUM_KEY: TEST_KEY });
    await writePlainEntries({ instance: before }, ids.map(entryOf));
    await before.close(0);
    const [file, list] = [newFile(), join(temporaryFolder(), 'many.ndjson')];
    const quiet = { say: () => undefined, complain: () => undefined, isTerminal: false };
    await runBackup([file], settings(place), quiet);
    writeFileSync(list, ids.map((id) => `{"account_id":${id},"erased_at":"2026-01-01T00:00:00Z"}\n`).join(''));
    await runRestore([file, '--replace', '--erased', list], settings(place), quiet);
    const after = await reopen(place, { ATRIUM_KEY: TEST_KEY });
    const left = await after.db.query(
      statement(`select id from audit where actor_name like 'gone-%' or after::text like '%Grete Gone%'`),
    );
    const attested = await after.db.query(
      statement(`select 1 from audit where action = 'user.erase' and json_array_length(after->'entries') = 1`),
    );
    await after.close(0);
    assert.deepEqual([left.length, attested.length], [0, ids.length]);
  });

  it('An export of the audit log is a list of erased people, too', async () => {
    const { place, world } = await newDemoPlace();
    const file = newFile();
    const quiet = { say: () => undefined, complain: () => undefined, isTerminal: false };
    await runBackup([file], settings(place), quiet);
    const list = join(temporaryFolder(), 'export.ndjson');
    const eve = world.users.eve?.id;
    writeFileSync(
      list,
      `{"id":7,"action":"user.create","object":{"type":"user","id":1}}\n{"id":9,"action":"user.erase","object":{"type":"user","id":${eve}}}\n`,
    );
    await runRestore([file, '--replace', '--erased', list], settings(place), quiet);
    const instance = await reopen(place, { ATRIUM_KEY: TEST_KEY });
    const url = await instance.listen();
    const token = `token ${world.users.root?.token}`;
    assert.equal((await fetchFrom('GET', '/users/eve', undefined, `${url}/api/v1`, token)).status, 404);
    assert.equal((await fetchFrom('GET', '/users/ann', undefined, `${url}/api/v1`, token)).status, 200);
    await instance.close(0);
  });

  for (const [text, message] of [
    [undefined, /there is no file .*list\.ndjson/],
    ['{"account_id":"dan"}\n', /line 1 of .*list\.ndjson names no erased person/],
    ['{"account_id":4,"erased_at":"2026-01-01T00:00:00Z"}\nnonsense\n', /line 2 of .*list\.ndjson/],
  ] as const) {
    it(`A restore is rejected before anything changes if the list is ${JSON.stringify(text ?? 'missing')}`, async () => {
      const { place, file, quiet } = await untouched();
      const list = join(temporaryFolder(), 'list.ndjson');
      if (text !== undefined) writeFileSync(list, text);
      await assert.rejects(runRestore([file, '--erased', list, '--replace'], settings(place), quiet), { message });
    });
  }
});

async function fetchFrom(method: string, path: string, body?: unknown, base = '', token = ''): Promise<Response> {
  const headers = { Authorization: token, ...(body !== undefined && { 'Content-Type': 'application/json' }) };
  return await fetch(`${base}${path}`, { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) });
}
