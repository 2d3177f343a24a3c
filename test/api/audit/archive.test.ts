import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { createArchiveReading } from '../../../src/audit/archive/archive-file.ts';
import { readArchiveLine } from '../../../src/audit/archive/archive-line.rows.ts';
import { createAuditArchiveStore } from '../../../src/audit/archive/audit-archive.store.ts';
import { type ArchivePlace, createAuditArchive } from '../../../src/audit/archive/audit-archive.ts';
import { filePlace } from '../../../src/audit/archive/file-place.ts';
import { createSegmentSigner } from '../../../src/audit/archive/segment.ts';
import { createAttestationSigner } from '../../../src/audit/verification/attestation-signer.ts';
import { AppError } from '../../../src/base/errors.ts';
import { runInServer } from '../../../src/operations/server-commands.ts';
import { openCliProcess } from '../../support/server/cli.ts';
import { COUNTED_DRIVERS } from '../../support/server/drivers.ts';
import { openTestServer, type TestServer } from '../../support/server/server.ts';
import { statement } from '../../support/server/statement.ts';
import { makeOrganization, makePerson } from '../../support/world/people.ts';

const HOUR = 3_600_000;

for (const driver of COUNTED_DRIVERS) {
  describe(`The archive of the audit log on ${driver}`, () => {
    let atrium: TestServer;
    const folder = mkdtempSync(join(tmpdir(), 'atrium-archive-'));
    before(async () => {
      atrium = await openTestServer({ driver });
    });
    after(async () => {
      rmSync(folder, { recursive: true, force: true });
      await atrium.close();
    });

    const file = (name: string) => join(folder, name);
    const root = (...send: Parameters<ReturnType<TestServer['as']>>) => atrium.as('root')(...send);
    const query = <Row extends object>(text: string) => atrium.instance.db.query<Row>(statement(text));

    async function command(...argv: string[]): Promise<string> {
      const lines: string[] = [];
      await runInServer(atrium.instance, { argv: ['audit', ...argv] }, (line) => lines.push(line));
      return lines.join('\n');
    }

    async function rejects(pattern: RegExp, ...argv: string[]): Promise<void> {
      await assert.rejects(command(...argv), (error: Error) => {
        assert.match(error.message, pattern);
        return true;
      });
    }

    /** An organization with its own log, and a moment between two of its changes. */
    async function makeLog() {
      const owner = await makePerson(atrium);
      const org = await makeOrganization(atrium, owner.name);
      const change = async (name: string) => {
        const made = await root('POST', `/authz/roles?org=${org.name}`, { name, permissions: [] });
        assert.equal(made.status, 201, made.text);
      };
      const moment = async () => {
        await new Promise((resolve) => setTimeout(resolve, 5));
        const now = new Date().toISOString();
        await new Promise((resolve) => setTimeout(resolve, 5));
        return now;
      };
      const verify = async (from = 'beginning') =>
        (await root('GET', `/admin/audit/verify?org=${org.name}&from=${from}`)).body;
      const exported = async () => (await root('GET', `/admin/audit/export?org=${org.name}`)).text;
      return { owner, org, change, moment, verify, exported };
    }

    async function auditKey(): Promise<string> {
      const { keys } = (await atrium.call('GET', '/.well-known/webhook-keys')).body;
      assert.deepEqual(
        keys.map(({ use }: { use: string }) => use),
        ['webhook', 'audit'],
      );
      return keys[1].public_key;
    }

    it(`What is older is in the file and not in the database, and both verify as one, on ${driver}`, async () => {
      const { org, change, moment, verify, exported } = await makeLog();
      for (const name of ['one', 'two', 'three']) await change(name);
      const first = await moment();
      for (const name of ['four', 'five']) await change(name);
      const second = await moment();
      for (const name of ['six', 'seven']) await change(name);
      const whole = (await exported()).trimEnd().split('\n');
      const { rows } = await verify();
      const [one, two] = [file(`one-${org.name}.ndjson`), file(`two-${org.name}.ndjson`)];
      assert.match(await command('archive', '--before', first, '--to', one, '--org', org.name), /entries of 1 log, in/);
      const [before] = readFileSync(one, 'utf8').split('\n');
      const head = JSON.parse(before ?? '');
      assert.deepEqual([head.kind, head.before, Object.keys(head).length], ['AuditSegments', first, 4]);
      const archived = await verify();
      assert.equal(archived.ok, true);
      const [segment] = archived.segments;
      assert.deepEqual(Object.keys(segment), ['first', 'last', 'count', 'last_hash', 'closed_at', 'signed']);
      assert.deepEqual([archived.rows + segment.count, segment.signed], [rows, true]);
      assert.match(
        await command('archive', '--before', second, '--to', two, '--org', org.name),
        /: 2 entries of 1 log/,
      );
      const again = await verify();
      assert.deepEqual([again.ok, again.segments.length, again.rows], [true, 2, 2]);
      const kept = (await exported()).trimEnd().split('\n');
      assert.deepEqual(kept, whole.slice(-2));
      assert.equal(kept[0] && JSON.parse(kept[0]).previous_hash, again.segments[1].last_hash);
      const page = await root('GET', `/admin/audit?org=${org.name}`);
      assert.equal(page.headers.get('X-Archived-Before'), second);
      assert.equal(page.headers.get('X-Archived-Hash'), again.segments[1].last_hash);

      const cli = openCliProcess({});
      const rest = file(`rest-${org.name}.ndjson`);
      writeFileSync(rest, `${kept.join('\n')}\n`);
      const key = await auditKey();
      const all = await cli(`audit verify ${rest} ${two} ${one} --key ${key} --json`);
      assert.equal(all.code, 0, all.stdout + all.stderr);
      const [verdict] = JSON.parse(all.stdout);
      assert.deepEqual([verdict.rows, verdict.ok, verdict.segments, verdict.signed], [rows, true, 2, true]);
      const gap = await cli(`audit verify ${rest} ${one}`);
      assert.deepEqual([gap.code, /entries are missing before it/.test(gap.stdout)], [1, true], gap.stdout);
      const late = await cli(`audit verify ${two}`);
      assert.deepEqual([late.code, /does not begin with the first entry/.test(late.stdout)], [1, true], late.stdout);
      const unsigned = await cli(`audit verify ${one}`);
      assert.deepEqual([unsigned.code, /whose signatures only --key checks/.test(unsigned.stdout)], [0, true]);
      const foreign = await cli(`audit verify ${one} --key whpk_${Buffer.alloc(32, 1).toString('base64')}`);
      assert.deepEqual([foreign.code, /signed with another key/.test(foreign.stdout)], [1, true], foreign.stdout);
      assert.equal((await cli(`audit verify ${one} --key nonsense`)).code, 2);

      const [entry] = (await root('GET', '/admin/audit?org=0&action=audit.archive&limit=1')).body.items;
      assert.deepEqual([entry.after.archive, entry.after.entries], [`two-${org.name}.ndjson`, 2]);
      assert.match(entry.summary, /moved entries of the audit log \(2\) to the archive/);
      assert.equal((await root('GET', '/admin/audit/verify?from=beginning')).body.ok, true);
      assert.deepEqual(
        readdirSync(folder).filter((name) => name.endsWith('.part')),
        [],
      );
    });

    it(`Every change of an archive is noticed, offline and by a restore, on ${driver}`, async () => {
      const { org, change, moment } = await makeLog();
      for (const name of ['one', 'two', 'three']) await change(name);
      const path = file(`tampered-${org.name}.ndjson`);
      await command('archive', '--before', await moment(), '--to', path, '--org', org.name);
      const text = readFileSync(path, 'utf8');
      const lines = text.trimEnd().split('\n');
      const key = await auditKey();
      const cli = openCliProcess({});
      const [middle = '', close = ''] = [lines[2], lines.at(-1)];
      const changes: Record<string, string> = {
        'an entry': text.replace('"name":"two"', '"name":"owt"'),
        'an entry that is gone': text.replace(`${middle}\n`, ''),
        'an order': [lines[0], lines[2], lines[1], ...lines.slice(3), ''].join('\n'),
        'a count': text.replace(/"count":(\d+)/, (_, count) => `"count":${Number(count) + 1}`),
        'a time of closing': text.replace(/"closed_at":"20/, '"closed_at":"19'),
        'a key': text.replace(/"key_id":"(.)/, (_, one) => `"key_id":"${one === 'A' ? 'B' : 'A'}`),
        'a signature': text.replace(/"signature":"(.)/, (_, one) => `"signature":"${one === 'A' ? 'B' : 'A'}`),
        'no end': text.replace(`${close}\n`, ''),
        'half a line': text.slice(0, -20),
        'another head': text.replace('AuditSegments', 'Something'),
        nothing: '',
      };
      for (const [what, changed] of Object.entries(changes)) {
        assert.notEqual(changed, text, what);
        const forged = file('forged.ndjson');
        writeFileSync(forged, changed);
        await rejects(/line \d+ of the archive|is cut off/, 'restore', forged);
        const { code, stdout } = await cli(`audit verify ${forged} --key ${key}`);
        assert.ok(code === 1 || code === 2, `${what}: ${stdout}`);
      }
      assert.equal((await cli(`audit verify ${path} --key ${key}`)).code, 0);
    });

    it(`A restore puts back what was archived, the last archive first, on ${driver}`, async () => {
      const { org, change, moment, verify, exported } = await makeLog();
      await change('one');
      const first = await moment();
      await change('two');
      const second = await moment();
      await change('three');
      const whole = await exported();
      const verdict = await verify();
      const [one, two] = [file(`first-${org.name}.ndjson`), file(`second-${org.name}.ndjson`)];
      await command('archive', '--before', first, '--to', one, '--org', org.name);
      await command('archive', '--before', second, '--to', two, '--org', org.name);
      await rejects(new RegExp(`restore second-${org.name}.ndjson first`), 'restore', one);
      assert.match(await command('restore', two), /^restored 1 entry of 1 log from/);
      await rejects(/is archived from this database, or it was restored/, 'restore', two);
      assert.match(await command('restore', one), /^restored \d+ entr.* of 1 log from/);
      assert.equal(await exported(), whole);
      assert.deepEqual(await verify(), verdict);
      assert.equal((await root('GET', `/admin/audit?org=${org.name}`)).headers.get('X-Archived-Before'), null);
      const [entry] = (await root('GET', '/admin/audit?org=0&action=audit.restore&limit=1')).body.items;
      assert.equal(entry.after.archive, `first-${org.name}.ndjson`);
      await rejects(/there is no file/, 'restore', file('nowhere.ndjson'));
    });

    it(`A question about a moment before the first kept entry is rejected in words, on ${driver}`, async () => {
      const { org, owner, change, moment, exported } = await makeLog();
      await change('one');
      const early = await moment();
      await change('two');
      await change('three');
      const late = await moment();
      const asked = [`authz/roles?org=${org.name}&at=`, `orgs/${org.name}/file?at=`];
      const ask = async (at: string, path = asked[0]) =>
        await atrium.call('GET', `/api/v1/${path}${at}`, undefined, { Authorization: `token ${owner.token}` });
      const then = await ask(late);
      const fileThen = await ask(late, asked[1]);
      for (const path of asked) {
        for (const at of [late, early]) assert.equal((await ask(at, path)).status, 200, path);
      }
      await command('archive', '--before', late, '--to', file(`past-${org.name}.ndjson`), '--org', org.name);
      const kept = JSON.parse((await exported()).split('\n')[0] ?? '');
      for (const path of asked) {
        const rejected = await ask(early, path);
        assert.deepEqual([rejected.status, rejected.body.reason], [400, 'before_audit_log'], rejected.text);
        assert.match(rejected.text, new RegExp(`before ${kept.at} the log is archived`));
      }
      assert.deepEqual((await ask(late)).body, then.body);
      assert.equal((await ask(late, asked[1])).text, fileThen.text);
      await command('restore', file(`past-${org.name}.ndjson`));
      for (const path of asked) assert.equal((await ask(early, path)).status, 200, path);
    });

    it(`A segment that is missing, or was signed by others, is named by every verification, on ${driver}`, async () => {
      const { org, change, moment, verify } = await makeLog();
      await change('one');
      const first = await moment();
      await change('two');
      const second = await moment();
      await change('three');
      const id = (await query<{ id: bigint }>(`select id from account where name = '${org.name}'`))[0]?.id;
      await command('archive', '--before', first, '--to', file(`a-${org.name}`), '--org', org.name);
      await command('archive', '--before', second, '--to', file(`b-${org.name}`), '--org', org.name);
      const { segments } = await verify();
      const told = async () => {
        const { ok, problem, first_broken_id: broken } = await verify();
        assert.deepEqual(await verify('checkpoint').then((one) => one.ok), ok);
        return [ok, problem, broken];
      };
      await query(
        `create table if not exists kept_segment as select * from audit_segment where organization_id = ${id}`,
      );
      const bring = async () => {
        await query(`delete from audit_segment where organization_id = ${id}`);
        await query(`insert into audit_segment select * from kept_segment`);
      };
      for (const change of [
        'entries = entries + 1',
        `last_hash = sha256('x')`,
        `signature = '\\x00'`,
        'closed_at = now()',
      ]) {
        await query(
          `update audit_segment set ${change} where organization_id = ${id} and first_id = ${segments[0].first}`,
        );
        assert.deepEqual(await told(), [false, 'segment_forged', segments[0].first], change);
        assert.equal((await verify()).segments[0].signed, false);
        await bring();
      }
      await query(`delete from audit_segment where organization_id = ${id} and first_id = ${segments[0].first}`);
      assert.deepEqual(await told(), [false, 'segment_missing', segments[1].first]);
      await bring();
      await query(`delete from audit_segment where organization_id = ${id} and first_id = ${segments[1].first}`);
      const [ok, problem] = await told();
      assert.deepEqual([ok, problem], [false, 'segment_missing']);
      await bring();
      assert.equal((await verify()).ok, true);
      await query('drop table kept_segment');
    });

    it(`What cannot be archived is rejected before anything is written, on ${driver}`, async () => {
      const { org, change, moment } = await makeLog();
      await change('one');
      await change('two');
      const now = await moment();
      const to = file(`rejected-${org.name}`);
      const cases: [RegExp, ...string[]][] = [
        [/missing subcommand/],
        [/unknown subcommand "purge"/, 'purge'],
        [/--before and --to are required/, 'archive', '--to', to],
        [/--before and --to are required/, 'archive', '--before', now],
        [/must be a date such as/, 'archive', '--before', 'yesterday', '--to', to],
        [/must be a date such as/, 'archive', '--before', '2026-02-30', '--to', to],
        [/is in the future/, 'archive', '--before', new Date(Date.now() + HOUR).toISOString(), '--to', to],
        [/no account is named/, 'archive', '--before', now, '--to', to, '--org', 'nobody-here'],
        [/there is no folder/, 'archive', '--before', now, '--to', join(folder, 'no', 'where'), '--org', org.name],
        [/name exactly one file/, 'restore'],
      ];
      for (const [pattern, ...argv] of cases) await rejects(pattern, ...argv);
      writeFileSync(to, 'mine');
      await rejects(/exists: an archive is never overwritten/, 'archive', '--before', now, '--to', to);
      assert.equal(readFileSync(to, 'utf8'), 'mine');
      const said = await command('archive', '--before', '2001-01-01', '--to', `${to}.none`);
      assert.match(said, /nothing is older than 2001-01-01T00:00:00.000Z: no archive was written/);
      assert.ok(!readdirSync(folder).includes(`rejected-${org.name}.none`));
      const [row] = await query<{ id: bigint }>(
        `select min(a.id) as id from audit a join account o on o.id = a.organization_id where o.name = '${org.name}'`,
      );
      await query(`update audit set request_id = 'forged' where id = ${row?.id}`);
      const broken = new RegExp(`was changed outside the server, at its entry ${row?.id}`);
      await rejects(broken, 'archive', '--before', await moment(), '--to', `${to}.broken`, '--org', org.name);
      assert.deepEqual(
        readdirSync(folder).filter((name) => name.startsWith(`rejected-${org.name}.`)),
        [],
      );
    });

    it(`Wherever an archive stops, every entry is in the database or in the file, on ${driver}`, async () => {
      const { db, revisions } = atrium.instance;
      const store = createAuditArchiveStore(db, revisions.write, {
        fingerprint: (text) => text,
        attest: createAttestationSigner(Buffer.alloc(32, 3)),
      });
      const signer = createSegmentSigner(Buffer.alloc(32, 3));
      const reading = createArchiveReading(readArchiveLine, async () => new Map());
      const { org, change, moment, exported } = await makeLog();
      for (const name of ['one', 'two', 'three']) await change(name);
      const id = (await query<{ id: bigint }>(`select id from account where name = '${org.name}'`))[0]?.id ?? 0n;
      const now = await moment();
      const whole = await exported();
      const stop = () => {
        throw new AppError('unavailable', 'stopped');
      };
      const good = filePlace(file(`good-${org.name}`));
      const half: ArchivePlace = {
        ...good,
        write: (lines) =>
          good.write(
            (async function* () {
              for await (const line of lines) {
                yield line;
                stop();
              }
            })(),
          ),
      };
      const places: Record<string, [ArchivePlace, Partial<typeof store>]> = {
        'while it is written': [half, {}],
        'before it is read back': [{ ...filePlace(file(`unread-${org.name}`)), read: stop }, {}],
        'with a file that is not what was written': [
          {
            ...filePlace(file(`short-${org.name}`)),
            write: async () => writeFileSync(file(`short-${org.name}`), '{"kind":"AuditSegments"}\n'),
          },
          {},
        ],
        'before entries are removed': [filePlace(file(`kept-${org.name}`)), { remove: stop }],
      };
      for (const [when, [place, fault]] of Object.entries(places)) {
        const archive = createAuditArchive({
          store: { ...store, ...fault },
          signer,
          reading,
          deployment: () => 'test',
        });
        await assert.rejects(archive.archive({ place, before: new Date(now), chainIds: [id] }, new Date()), when);
        assert.equal(await exported(), whole, when);
      }
      // The transaction that removes fails after the entries were removed: nothing is lost, and the next one succeeds.
      await query(`alter table audit_segment add constraint stop check (place <> 'late-${org.name}')`);
      const late = createAuditArchive({ store, signer, reading, deployment: () => 'test' });
      const wish = { before: new Date(now), chainIds: [id] };
      await assert.rejects(late.archive({ ...wish, place: filePlace(file(`late-${org.name}`)) }, new Date()));
      assert.equal(await exported(), whole);
      await query('alter table audit_segment drop constraint stop');
      const both = [`x-${org.name}`, `y-${org.name}`].map((name) =>
        late.archive({ ...wish, place: filePlace(file(name)) }, new Date()).then(
          (done) => done?.entries,
          (error: Error) => error.message,
        ),
      );
      const outcomes = await Promise.all(both);
      assert.equal(outcomes.filter((one) => typeof one === 'number').length, 1, String(outcomes));
      const [entries] = outcomes.filter((one) => typeof one === 'number');
      assert.equal(
        Number(entries) + (await exported()).trimEnd().split('\n').length,
        whole.trimEnd().split('\n').length,
      );
    });
  });
}
