import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, describe, it } from 'node:test';
import { restoreNkeyPair } from '../../../src/bus/nkeys.ts';
import { writtenDatabaseFiles, writtenFiles } from '../../support/checks/written-files.ts';
import { openTestServer, type TestServer } from '../../support/server/server.ts';
import { statement } from '../../support/server/statement.ts';
import { fileOf } from '../../support/services/bus.ts';
import { newNats, type TestNats } from '../../support/services/nats.ts';
import { freePort } from '../../support/services/ports.ts';
import { lacks } from '../../support/services/requirements.ts';
import { setActive } from '../../support/world/people.ts';

const CALLS: readonly (readonly [who: string, path: string])[] = [
  ['ann', 'credentials'],
  ['bob', 'credentials'],
  ['root', 'admin_credentials'],
  ['root', 'user_credentials?user=cat'],
  ['root', 'user_credentials?user=nobody'],
  ['root', 'cluster-resource-history?cluster=abc'],
  ['root', 'cluster-resource-history'],
  ['ann', 'admin_credentials'],
];

/** Every secret of the bus, and every place where it must not be. On PGlite, because we can read its files. */
describe('Bus secrets', { skip: lacks('nats-server') }, () => {
  let atrium: TestServer;
  let nats: TestNats;
  let metrics = '';
  const secrets = new Map<string, Buffer>();
  const refusals: string[] = [];

  const began = Date.now();
  before(async () => {
    nats = await newNats();
    const adminPort = await freePort();
    const env = { ...nats.env, ADMIN_PORT: String(adminPort) };
    atrium = await openTestServer({ driver: 'pglite', env });
    await callAll();
    await nats.start(await atrium.instance.features.bus.serverConfig(nats.folder));
    await callAll();
    await setActive(atrium.instance, atrium.world.users.bob?.id ?? 0n, false);
    await callAll();
    for (const text of await keysOfTheHouse()) learn(text);
    metrics = await (await fetch(`http://127.0.0.1:${adminPort}/metrics`)).text();
  });
  after(() => nats.kill());

  /** Answers with credentials reveal the secrets. All other answers must contain none. */
  async function callAll(): Promise<void> {
    for (const [who, path] of CALLS) {
      const { status, text, body } = await atrium.as(who)('GET', `/user/bus/${path}`);
      if (status !== 200 || body.credentials === undefined) refusals.push(text);
      else learn(fileOf(body));
    }
  }

  async function keysOfTheHouse(): Promise<string[]> {
    const rows = await atrium.instance.db.query<{ name: string; seed: Buffer }>(
      statement('select name, seed from bus_key'),
    );
    const users = await atrium.instance.db.query<{ account_id: bigint; identity: string; seed: Buffer }>(
      statement(`select account_id, 'bus user ' || realm || ' ' || public_key as identity, seed from bus_user`),
    );
    for (const { account_id, identity, seed } of users) {
      secrets.set(`raw ${identity}`, await atrium.instance.vault.open(account_id, identity, seed));
    }
    return await Promise.all(
      rows.map(async ({ name, seed }) => {
        const raw = await atrium.instance.vault.open(0n, `bus key ${name}`, seed);
        secrets.set(`raw ${name}`, raw);
        return restoreNkeyPair(name === 'operator' ? 'operator' : 'account', raw).seed();
      }),
    );
  }

  function learn(text: string): void {
    for (const seed of text.match(/\bS[AOU][A-Z2-7]{56}\b/g) ?? []) secrets.set(seed, Buffer.from(seed));
    for (const jwt of text.match(/eyJ[\w-]+\.[\w-]+\.[\w-]+/g) ?? []) {
      secrets.set(`signature of ${jwt}`, Buffer.from(jwt.split('.')[2] ?? ''));
    }
  }

  function assertAbsent(place: string, bytes: Buffer): void {
    for (const [name, secret] of secrets) assert.ok(!bytes.includes(secret), `${name.slice(0, 24)} is in ${place}`);
  }

  it('The search for bus secrets covers every kind of secret', () => {
    const names = [...secrets.keys()];
    for (const start of ['SO', 'SA', 'SU', 'raw operator', 'raw bus user', 'signature of']) {
      assert.ok(
        names.some((name) => name.startsWith(start)),
        start,
      );
    }
  });

  it('Bus secrets do not appear in the logs', () => {
    assert.ok(atrium.logged().length > 1000);
    assertAbsent('the log', Buffer.from(atrium.logged()));
  });

  it('Bus secrets do not appear in the metrics', () => {
    assert.match(metrics, /http_server_request_duration_seconds/);
    assertAbsent('the metrics', Buffer.from(metrics));
  });

  it('Bus secrets appear in no response other than issued credentials', () => {
    assert.ok(refusals.length > 5);
    assertAbsent('a rejection', Buffer.from(refusals.join()));
  });

  it('Bus secrets do not appear in the audit log', async () => {
    const rows = await atrium.instance.db.query(statement('select audit::text as line from audit'));
    assert.ok(rows.length > 0);
    assertAbsent('the audit log', Buffer.from(JSON.stringify(rows)));
  });

  it('Bus secrets do not appear in the files of the database or of the NATS server', async () => {
    await atrium.close();
    const database = new Set(writtenDatabaseFiles(atrium.dataDir, began));
    const files = [...database, ...writtenFiles(nats.folder, began)];
    const seeds = new Map([...secrets].filter(([name]) => !name.startsWith('signature')));
    for (const file of files) {
      const bytes = readFileSync(file);
      for (const [name, secret] of seeds) assert.ok(!bytes.includes(secret), `${name.slice(0, 24)} is in ${file}`);
      if (database.has(file)) assertAbsent(file, bytes);
    }
  });
});
