import { mkdtempSync, rmSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { readConfig } from '../src/base/config/config.ts';
import { createLog } from '../src/base/log.ts';
import { openInstance } from '../src/instance.ts';
import { SECRET, startCrookedProvider } from '../test/support/services/crooked-provider.ts';
import { startPostgres } from '../test/support/services/postgres.ts';
import { median, spread } from './support/figures.ts';
import { startServer } from './support/server.ts';

const SECONDS = Number(process.env.BENCH_SECONDS ?? 20);
const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 3);
const SIGN_INS = Number(process.env.BENCH_SIGN_INS ?? 20);
const REQUESTS = Number(process.env.BENCH_REQUESTS ?? 500);
const PEOPLE = 200;
const KEY = Buffer.alloc(32, 'bench key').toString('base64');

const agent = new Agent({ keepAlive: true, maxSockets: 64 });
const say = (line: string) => process.stderr.write(`${line}\n`);
const ms = (value: number) => `${value.toFixed(2)} ms`;

const folder = mkdtempSync(join(tmpdir(), 'atrium-bench-'));
const postgres = await startPostgres();
const provider = await startCrookedProvider();
try {
  const place = { DATA_DIR: folder, DATABASE_URL: await postgres.createDatabase(), ATRIUM_KEY: KEY, ADMIN_PORT: '0' };
  const token = await tokenIn(place);
  const known = { name: 'bench', issuer: provider.issuer, client_id: 'atrium', client_secret: SECRET };
  const server = await startServer(['src/main.ts'], {
    ...place,
    OIDC_ALLOWED_NETWORKS: '127.0.0.0/8',
    OIDC_PROVIDERS: JSON.stringify([{ ...known, create_accounts: true }]),
    AUTH_FAILURES: '1000000',
  });
  answerTokens();
  let people = 0;
  const signIn = () => signInAs(server.address, people++ % PEOPLE);
  for (let one = 0; one < PEOPLE; one++) await signIn();
  const [alone, together, durations] = [[] as number[], [] as number[], [] as number[]];
  for (let round = 0; round < ROUNDS; round++) {
    alone.push(await p99(server.address, token));
    const [next, took] = await Promise.all([p99(server.address, token), atRate(SIGN_INS, signIn)]);
    together.push(next);
    durations.push(...took);
    say(`round ${round + 1}: p99 ${ms(alone.at(-1) ?? 0)} alone, ${ms(next)} with sign-ins`);
  }
  await server.stop();
  const ratios = together.map((value, round) => value / (alone[round] ?? 1));
  process.stdout.write(`\n${cpus().length} × ${cpus()[0]?.model.trim()}, Node ${process.version}; PostgreSQL; `);
  process.stdout.write(`${ROUNDS} rounds of ${SECONDS} s, ${REQUESTS} token requests/s, ${SIGN_INS} sign-ins/s.\n\n`);
  process.stdout.write('| what | median | spread | target |\n|---|---|---|---|\n');
  const row = (what: string, values: readonly number[], target = '') =>
    process.stdout.write(`| ${what} | ${median(values).toFixed(2)} | ${spread(values, 2)} | ${target} |\n`);
  row('p99 of GET /user alone, ms', alone);
  row('p99 of GET /user with sign-ins, ms', together);
  row('the ratio', ratios, 'at most 2');
  row('a whole sign-in, with the provider, ms', durations);
} finally {
  agent.destroy();
  await provider.close();
  await postgres.stop();
  rmSync(folder, { recursive: true, force: true });
}

/** The code that the provider gets is the nonce, and who it is for. */
function answerTokens(): void {
  provider.pages.set('/token', (incoming, response) => {
    let body = '';
    incoming.on('data', (chunk: Buffer) => {
      body += chunk;
    });
    incoming.on('end', async () => {
      const [nonce = '', person = ''] = (new URLSearchParams(body).get('code') ?? '').split('.');
      const claims = { sub: `person ${person}`, email: `person${person}@example.com` };
      const id_token = await provider.idToken(nonce, { claims });
      response
        .writeHead(200, { 'Content-Type': 'application/json' })
        .end(JSON.stringify({ access_token: 'x', token_type: 'Bearer', id_token }));
    });
  });
}

async function signInAs(address: string, person: number): Promise<number> {
  const began = performance.now();
  const start = await send(`${address}/api/v1/user/signin/bench`);
  const { searchParams } = new URL(start.location);
  const state = searchParams.get('state') ?? '';
  const query = new URLSearchParams({ code: `${searchParams.get('nonce')}.${person}`, state, iss: provider.issuer });
  const end = await send(`${address}/api/v1/user/signin/bench/callback?${query}`, { Cookie: start.cookie });
  if (end.status !== 302) throw new Error(`a sign-in got ${end.status}`);
  return performance.now() - began;
}

/** The 99th percentile of token requests that arrive at a steady rate, whatever the answers take. */
async function p99(address: string, token: string): Promise<number> {
  const headers = { Authorization: `token ${token}` };
  const took = await atRate(REQUESTS, async () => {
    const began = performance.now();
    const { status } = await send(`${address}/api/v1/user`, headers);
    if (status !== 200) throw new Error(`a token request got ${status}`);
    return performance.now() - began;
  });
  return took.sort((a, b) => a - b)[Math.floor(took.length * 0.99)] ?? Number.NaN;
}

async function atRate(perSecond: number, work: () => Promise<number>): Promise<number[]> {
  const all: Promise<number>[] = [];
  const began = performance.now();
  for (let number = 0; number < perSecond * SECONDS; number++) {
    const due = began + (number * 1000) / perSecond;
    const wait = due - performance.now();
    if (wait > 1) await pause(wait);
    all.push(work());
  }
  return await Promise.all(all);
}

function send(url: string, headers: Record<string, string> = {}) {
  return new Promise<{ status: number; location: string; cookie: string }>((resolve, reject) => {
    request(url, { agent, headers }, (response) => {
      response.resume();
      response.once('end', () => {
        const cookies = response.headers['set-cookie'] ?? [];
        resolve({
          status: response.statusCode ?? 0,
          location: response.headers.location ?? '',
          cookie: cookies.map((line) => line.split(';', 1)[0]).join('; '),
        });
      });
    })
      .once('error', reject)
      .end();
  });
}

async function tokenIn(place: Readonly<Record<string, string>>): Promise<string> {
  const config = readConfig({ ...place, PORT: '0' });
  const instance = await openInstance(config, { log: createLog('fatal'), say: () => undefined });
  const accountId = await instance.features.users.create({ name: 'reader', email: 'reader@example.com' });
  const { text } = await instance.identity.tokens.issue({ accountId, name: 'bench', scopes: ['all'] });
  await instance.close();
  return text;
}
