import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { sql } from '../../src/db/db.ts';
import { COUNTS } from '../counts.ts';
import { progress } from '../support/checks/progress.ts';
import { until } from '../support/checks/until.ts';
import { openWire } from '../support/faults/wire.ts';
import { serverUrl } from '../support/server/db.ts';
import { openQuietly, openTestServer, TEST_KEY } from '../support/server/server.ts';
import { startPgbouncer } from '../support/services/pgbouncer.ts';
import { lacks } from '../support/services/requirements.ts';

const WRITERS = 6;
/** No write waits for this, so what ends a wait is never the timeout of a statement. */
const TIMEOUT_MS = 60_000;
/** A wait is at most 5 s where the machine has nothing else to do. */
const MAX_WAIT_MS = 9_000;
const LOCK = sql('silent.lock', 'select 1 from revision where id = 1 for update');
const ONE = sql('silent.one', 'select 1');

/** What has arrived of the last trip of a write when its replica falls silent, and what the rest begins with. */
const PLACES = [
  { what: 'all but the COMMIT', name: 'db.commit', text: '\0COMMIT' },
  { what: 'all but the revision', name: 'revision.nextUnguarded', text: 'with next as' },
  { what: 'the lock of the audit log', name: 'audit.append', text: 'insert into audit' },
];

interface Ground {
  readonly toWire?: (databaseUrl: string) => string;
  readonly settings?: Readonly<Record<string, string>>;
  readonly wordsOf: (place: (typeof PLACES)[number]) => string;
}

describe('A replica that falls silent in the middle of a write', { skip: lacks('postgresql') }, () => {
  it('Other replicas wait 5 s at most, and what it did not commit is not there', (t) =>
    tryEverywhere(t, { wordsOf: ({ name }) => name }));

  it('Through PgBouncer with fewer connections than writers it is the same', {
    skip: lacks('pgbouncer'),
  }, async (t) => {
    const pooler = await startPgbouncer(await serverUrl());
    t.after(() => pooler.stop());
    await tryEverywhere(t, {
      toWire: pooler.urlOf,
      settings: { DATABASE_POOLER: 'transaction' },
      wordsOf: ({ text }) => text,
    });
  });

  it('A replica that sends a little now and then is no better', async () => {
    const atrium = await openTestServer({ driver: 'postgres', env: { DATABASE_TIMEOUT_MS: String(TIMEOUT_MS) } });
    const { db } = atrium.instance;
    const inside = Promise.withResolvers<void>();
    let isOver = false;
    const dawdling = assert.rejects(
      db.transaction(async (query) => {
        await query(LOCK);
        inside.resolve();
        for (; !isOver; await pause(1_000)) await query(ONE);
      }),
      { name: 'AppError', kind: 'unavailable' },
    );
    await inside.promise;
    const began = performance.now();
    const made = await atrium.as('ann')('POST', '/authz/roles?org=acme', { name: 'patient', permissions: [] });
    const waited = Math.round(performance.now() - began);
    assert.equal(made.status, 201, made.text);
    assert.ok(waited < MAX_WAIT_MS, `waited ${waited} ms`);
    progress(`waited ${waited} ms for a replica that dawdles`);
    isOver = true;
    await dawdling;
    await atrium.close();
  });
});

async function tryEverywhere(t: TestContext, { toWire = (url) => url, settings = {}, wordsOf }: Ground): Promise<void> {
  const env = { ...settings, DATABASE_TIMEOUT_MS: String(TIMEOUT_MS), RATE_LIMIT: '0' };
  const atrium = await openTestServer({ driver: 'postgres' });
  const databaseUrl = atrium.instance.config.DATABASE_URL ?? '';
  const wire = await openWire(new URL(toWire(databaseUrl)));
  t.after(() => wire.cut());
  const open = (url: string) => openQuietly({ ...env, DATABASE_URL: url, ATRIUM_KEY: TEST_KEY }, []);
  const [silent, other] = [await open(wire.url), await open(toWire(databaseUrl))];
  t.after(async () => void (await Promise.all([silent.close(), other.close(), atrium.close()])));
  const [silentUrl, otherUrl] = [await silent.listen(), await other.listen()];
  const headers = { Authorization: `token ${atrium.world.users.ann?.token}` };
  const create = (url: string, name: string) =>
    atrium.call('POST', '/api/v1/authz/roles?org=acme', { name, permissions: [] }, headers, url);
  /** If PgBouncer has no connection left, not even for reads, requests are rejected for a moment. */
  const createPatiently = async (url: string, name: string) => {
    for (;;) {
      const answer = await create(url, name);
      if (answer.status !== 503) return answer;
      assert.match(answer.headers.get('retry-after') ?? '', /^\d+$/, answer.text);
      rejected += 1;
      await pause(100);
    }
  };
  let rejected = 0;
  const waits: number[] = [];
  // Each process learns that there are no guardrails.
  for (const url of [silentUrl, otherUrl]) assert.equal((await create(url, `first at ${url}`)).status, 201);
  for (let round = 0; round < COUNTS.silentRounds; round++) {
    for (const place of PLACES) {
      const label = `${round} ${place.what}`;
      const before = wire.silent;
      wire.fallSilentAt(wordsOf(place));
      const lost = create(silentUrl, `silent ${label}`);
      await until(() => wire.silent > before);
      const began = performance.now();
      const made = await Promise.all(
        Array.from({ length: WRITERS }, (_, writer) => createPatiently(otherUrl, `other ${label} ${writer}`)),
      );
      waits.push(Math.round(performance.now() - began));
      assert.deepEqual(new Set(made.map(({ status }) => status)), new Set([201]), `${label}: ${made[0]?.text}`);
      const answer = await lost;
      assert.equal(answer.status, 503, answer.text);
      const again = await create(silentUrl, `silent ${label}`);
      assert.equal(again.status, 201, `it had not been made: ${again.text}`);
      progress(`${label}: others waited ${waits.at(-1)} ms, ${rejected} requests rejected so far`);
    }
  }
  assert.ok(Math.max(...waits) < MAX_WAIT_MS, `waited ${waits.join(', ')} ms`);
}
