import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { it } from 'node:test';
import { createRetentionStore } from '../../../src/audit/archive/retention.store.ts';
import { createRetention } from '../../../src/audit/archive/retention.ts';
import { readConfig } from '../../../src/base/config/config.ts';
import { periodBefore, readPeriod } from '../../../src/base/period.ts';
import { openTestServer } from '../../support/server/server.ts';

const DAY_MS = 86_400_000;

it('A retention that is too short, or has no archive, is rejected before the server starts', () => {
  const faults: [Record<string, string>, RegExp][] = [
    [{ AUDIT_RETENTION: 'P1Y' }, /AUDIT_RETENTION needs AUDIT_ARCHIVE/],
    ...['P29D', 'P4W', 'P1M', 'P0Y'].map((text): [Record<string, string>, RegExp] => [
      { AUDIT_RETENTION: text, AUDIT_ARCHIVE: '/tmp' },
      /must be at least P30D/,
    ]),
    ...['P', '1Y', 'P1.5Y', 'PT30D', 'P1Y ', 'P-1Y', 'one year'].map((text): [Record<string, string>, RegExp] => [
      { AUDIT_RETENTION: text, AUDIT_ARCHIVE: '/tmp' },
      /must be an ISO 8601 period/,
    ]),
  ];
  for (const [env, pattern] of faults) assert.throws(() => readConfig(env), pattern, JSON.stringify(env));
  for (const text of ['P30D', 'P2M', 'P5W', 'P1Y6M']) {
    assert.ok(readConfig({ AUDIT_RETENTION: text, AUDIT_ARCHIVE: '/tmp' }).AUDIT_RETENTION, text);
  }
});

it('A period ends at the beginning of a day, and at the end of a shorter month', () => {
  const before = (text: string, moment: string) =>
    periodBefore(readPeriod(text) ?? assert.fail(), new Date(moment))
      .toISOString()
      .slice(0, 16);
  assert.equal(before('P1Y', '2026-11-19T05:00:00Z'), '2025-11-19T00:00');
  assert.equal(before('P1Y', '2024-02-29T05:00:00Z'), '2023-02-28T00:00');
  assert.equal(before('P1M', '2026-03-31T23:59:59Z'), '2026-02-28T00:00');
  assert.equal(before('P2W3D', '2026-01-05T00:00:00Z'), '2025-12-19T00:00');
});

it('A server whose folder for archives does not exist does not start', async () => {
  const env = { AUDIT_RETENTION: 'P1Y', AUDIT_ARCHIVE: join(tmpdir(), 'atrium-no-such-folder') };
  await assert.rejects(openTestServer({ env }), /AUDIT_ARCHIVE must be a folder that exists/);
});

it('Once a day, one process archives what is older, and after a failure one tries again', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'atrium-retention-'));
  const atrium = await openTestServer({ env: { AUDIT_RETENTION: 'P30D', AUDIT_ARCHIVE: folder } });
  t.after(async () => {
    await atrium.close();
    rmSync(folder, { recursive: true, force: true });
  });
  const { features, db } = atrium.instance;
  for (const name of ['one', 'two', 'three']) {
    await atrium.as('ann')('POST', '/authz/roles?org=acme', { name, permissions: [] });
  }
  await features.retainAudit(new Date());
  assert.deepEqual(readdirSync(folder), [], 'nothing is older');
  const later = new Date(Date.now() + 40 * DAY_MS);
  await features.retainAudit(later);
  await features.retainAudit(later);
  const [name = '', ...more] = readdirSync(folder);
  assert.match(name, /^audit-before-\d{4}-\d\d-\d\d-made-\d{8}T\d{6}Z\.ndjson$/);
  assert.deepEqual(more, []);
  assert.match(readFileSync(join(folder, name), 'utf8'), /"action":"role.create"/);
  const { body } = await atrium.as('ann')('GET', '/orgs/acme/audit/verify?from=beginning');
  assert.deepEqual([body.ok, body.rows, body.segments.length], [true, 1, 1]);

  const tries: string[] = [];
  let isFailing = true;
  const open = () =>
    createRetention({
      store: createRetentionStore(db),
      keep: { months: 0, days: 30 },
      placeFor: (name) => ({ name, write: async () => undefined, read: async function* () {} }),
      onArchived: () => undefined,
      archive: {
        archive: async ({ place }) => {
          tries.push(place.name);
          if (isFailing) throw new Error('the disk is full');
          return undefined;
        },
      },
    });
  const [first, second] = [open(), open()];
  const next = new Date(later.getTime() + DAY_MS);
  // An hour later is the same day.
  next.setUTCHours(12);
  await assert.rejects(first.run(next), /the disk is full/);
  await first.run(new Date(next.getTime() + 60_000));
  assert.equal(tries.length, 1, 'the process waits after a failure');
  isFailing = false;
  await Promise.all([second.run(next), first.run(new Date(next.getTime() + 3_600_000))]);
  assert.equal(tries.length, 2, 'another process does it, and no third');
  await first.run(new Date(next.getTime() + DAY_MS));
  assert.equal(tries.length, 3, 'and again on the next day');
});
