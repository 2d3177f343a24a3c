/**
 * npm run bench -- bus: how fast the server issues credentials for the message bus, and how long the NATS libraries
 * take for the same file. The load comes from another process and the result is judged by processor time, so other load
 * on the machine hardly matters.
 */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { encodeUser, fmtCreds } from '@nats-io/jwt';
import { createUser, fromPublic, fromSeed } from '@nats-io/nkeys';
import { readConfig } from '../src/base/config/config.ts';
import { createLog } from '../src/base/log.ts';
import { credentialsFile } from '../src/bus/credentials-file.ts';
import { userJwt } from '../src/bus/jwt-claims.ts';
import { createNkeyPair } from '../src/bus/nkeys.ts';
import { openInstance } from '../src/instance.ts';
import { buildWorld } from '../src/operations/demo/world.ts';
import { newPlace } from '../test/support/server/db.ts';

const SECONDS = 5;
const WANTED = 500;
const write = (line: string) => void process.stdout.write(`${line}\n`);
const subjects = { publish: ['user.7.>', 'cluster.a.>'], subscribe: ['user.7.>', '_INBOX.7.>', 'cluster.a.>'] };
let isGood = true;

async function rate(name: string, work: () => Promise<unknown> | unknown): Promise<void> {
  for (let warm = 0; warm < 3; warm++) await work();
  const end = performance.now() + SECONDS * 200;
  const began = performance.now();
  let count = 0;
  while (performance.now() < end) {
    await work();
    count++;
  }
  const each = (performance.now() - began) / count;
  write(`${name.padEnd(46)} ${(1000 / each).toFixed(0).padStart(8)} a second ${each.toFixed(3).padStart(9)} ms each`);
}

const account = createNkeyPair('account');
const user = createNkeyPair('user');
const issuedAt = Math.floor(Date.now() / 1000);
await rate('a file by the libraries of NATS, new key', async () => {
  const key = createUser();
  const jwt = await encodeUser('ann', fromPublic(key.getPublicKey()), fromSeed(Buffer.from(account.seed())), {});
  return fmtCreds(jwt, key);
});
await rate('a file by ours, new key', () => {
  const key = createNkeyPair('user');
  return credentialsFile(userJwt(account, { name: 'ann', user: key.publicKey, issuedAt, ...subjects }), key.seed());
});
await rate('a file by ours, known key', () =>
  credentialsFile(userJwt(account, { name: 'ann', user: user.publicKey, issuedAt, ...subjects }), user.seed()),
);

for (const driver of ['pglite', 'postgres'] as const) {
  const { dataDir, databaseUrl = '' } = await newPlace(driver);
  const env = { PORT: '0', ADMIN_PORT: '0', RATE_LIMIT: '0', DATA_DIR: dataDir, DATABASE_URL: databaseUrl };
  const atrium = await openInstance(readConfig(env), { log: createLog('error'), say: () => undefined });
  const { users } = await buildWorld(atrium);
  const url = `${await atrium.listen()}/api/v1/user/bus/credentials`;
  await shoot(url, users.ann?.token ?? '', 1);
  const before = process.cpuUsage();
  const { ok, bad, rate: perSecond, median } = await shoot(url, users.ann?.token ?? '', SECONDS);
  const { user: busy, system } = process.cpuUsage(before);
  const perCore = (ok * 1_000_000) / (busy + system);
  write(
    `${`GET /user/bus/credentials on ${driver}`.padEnd(46)} ${perSecond.toFixed(0).padStart(8)} a second, median ${median} ms; ` +
      `${perCore.toFixed(0)} a second of processor time; ${bad} refused`,
  );
  if (perCore < WANTED || bad > 0) isGood = false;
  await atrium.close();
}
write(`at least ${WANTED} a second on one core: ${isGood ? 'yes' : 'NO'}`);
process.exit(isGood ? 0 : 1);

/** In a separate process, so that the processor time of this one is the server's. */
async function shoot(url: string, token: string, seconds: number) {
  const args = ['--json', '--connections', '32', '--duration', String(seconds)];
  const program = [
    'test/node_modules/autocannon/autocannon.js',
    ...args,
    '--headers',
    `Authorization=token ${token}`,
    url,
  ];
  const { stdout } = await promisify(execFile)(process.execPath, program, { maxBuffer: 1 << 24 });
  const result = JSON.parse(stdout);
  return { ok: result['2xx'], bad: result.non2xx, rate: result['2xx'] / result.duration, median: result.latency.p50 };
}
