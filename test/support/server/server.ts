import { Agent, type IncomingMessage, request } from 'node:http';
import { Writable } from 'node:stream';
import { gunzipSync } from 'node:zlib';
import { readConfig } from '../../../src/base/config/config.ts';
import { createLog } from '../../../src/base/log.ts';
import type { DbOptions } from '../../../src/db/db.ts';
import { setPasswordCost } from '../../../src/identity/passwords/passwords.ts';
import { type Instance, openInstance } from '../../../src/instance.ts';
import { buildWorld, type DemoWorld } from '../../../src/operations/demo/world.ts';
import { IS_LONG } from '../../counts.ts';
import { undocumented } from '../checks/documented.ts';
import {
  ANY_DRIVER,
  type Driver,
  inThisThread,
  migrated,
  newCopy,
  newPlace,
  type Place,
  patienceWith,
  SOURCES_KEY,
  type Template,
} from './db.ts';

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The body as JSON; undefined if there is none. */
  // biome-ignore lint/suspicious/noExplicitAny: a test says what it expects of a body by asserting it.
  readonly body: any;
}

export type Call = (
  method: string,
  path: string,
  body?: unknown,
  headers?: Record<string, string>,
  base?: string,
) => Promise<Answer>;

export interface TestServer {
  readonly url: string;
  readonly dataDir: string;
  readonly instance: Instance;
  readonly world: DemoWorld;
  /** Every line logged so far. */
  readonly logged: () => string;
  /** `as('ann')('GET', '/user')`: a call under /api/v1 with that user's token. `as()` sends no credential. */
  as(name?: string): Call;
  call: Call;
  close(): Promise<void>;
}

export interface TestServerOptions {
  readonly driver?: Driver;
  readonly env?: Readonly<Record<string, string>>;
  /** The built-in database has the clock of the test, which may move it. */
  readonly hasOurClock?: boolean;
  /** How many times longer than in production a silent database is waited for; by default, what the run needs. */
  readonly patience?: number;
}

/** The root key of every test server that is not given one. */
export const TEST_KEY = Buffer.alloc(32, 'atrium test key').toString('base64');

/** A hash takes a core for tens of milliseconds, and the everyday suite checks thousands of passwords. */
const HAS_CHEAP_PASSWORDS = process.env.TEST_CHEAP_PASSWORDS === '1';
if (HAS_CHEAP_PASSWORDS) setPasswordCost({ memory: 8, passes: 1, parallelism: 1 });

/** A database with the demo world in it, under TEST_KEY. */
export const DEMO_WORLD: Template = {
  key: `demo world ${HAS_CHEAP_PASSWORDS ? 'with cheap passwords ' : ''}${SOURCES_KEY}`,
  make: async ({ dataDir, databaseUrl = '' }) => {
    // Every copy publishes for itself.
    const settings = { DATA_DIR: dataDir, DATABASE_URL: databaseUrl, ATRIUM_KEY: TEST_KEY, OPENFGA_URL: '' };
    const instance = await openQuietly(settings, []);
    const world = await buildWorld(instance).finally(() => instance.close());
    return JSON.stringify(world, (_key, value) => (typeof value === 'bigint' ? `${value}n` : value));
  },
};

/** A database with the demo world, for a server that a test starts as a process with `ATRIUM_KEY: TEST_KEY`. */
export async function newDemoPlace(driver = ANY_DRIVER): Promise<{ place: Place; world: DemoWorld }> {
  const { place, note } = await newCopy(driver, DEMO_WORLD);
  const world = JSON.parse(note, (_key, value: unknown) =>
    typeof value === 'string' && /^\d+n$/.test(value) ? BigInt(value.slice(0, -1)) : value,
  ) as DemoWorld;
  return { place, world };
}

/** A complete server with the demo world, on its own database, listening on loopback. */
export async function openTestServer({
  driver = ANY_DRIVER,
  env = {},
  hasOurClock = false,
  patience,
}: TestServerOptions = {}): Promise<TestServer> {
  const lines: string[] = [];
  // The copied world does not fit the test's own database or key, so the world is created there.
  const isCopied = env.DATABASE_URL === undefined && env.DATA_DIR === undefined && env.ATRIUM_KEY === undefined;
  const copy = isCopied ? await newDemoPlace(driver) : { place: await newPlace(driver, migrated()), world: undefined };
  const { dataDir, databaseUrl = '' } = copy.place;
  const instance = await openQuietly(
    { DATA_DIR: dataDir, DATABASE_URL: databaseUrl, ...(isCopied && { ATRIUM_KEY: TEST_KEY }), ...env },
    lines,
    hasOurClock ? inThisThread : undefined,
    patience,
  );
  const world = copy.world ?? (await buildWorld(instance));
  await instance.features.openFga?.sync(false);
  const address = await instance.listen();
  // With BASE_URL, that is the address of a proxy in front of the server.
  const url = env.BASE_URL && env.PORT ? `http://127.0.0.1:${env.PORT}` : address;
  const call: Call = (method, path, body, headers, base) =>
    sendPatiently(`${base || url}${path}`, method, body, headers);
  return {
    url,
    dataDir,
    instance,
    world,
    call,
    logged: () => lines.join(''),
    as: (name) => {
      const token = name === undefined ? undefined : world.users[name]?.token;
      if (name !== undefined && token === undefined) throw new Error(`nobody is called ${name}`);
      return (method, path, body, headers) =>
        call(method, `/api/v1${path}`, body, { ...(token && { Authorization: `token ${token}` }), ...headers });
    },
    close: () => instance.close(),
  };
}

/** Each connection warms up by itself, and hundreds of servers are opened. The long suite has the default. */
const POOL = IS_LONG ? {} : { DATABASE_POOL: '2' };

/** With TEST_OPENFGA_URL, every server has its decisions from that OpenFGA server: see test/long/openfga-engine.test.ts. */
export const JUDGE: Readonly<Record<string, string>> = process.env.TEST_OPENFGA_URL
  ? { OPENFGA_URL: process.env.TEST_OPENFGA_URL }
  : {};

/** A server whose log lines are collected. It has its own port and no admin port. */
export async function openQuietly(
  env: Readonly<Record<string, string>>,
  lines: string[],
  startPglite?: DbOptions['startPglite'],
  patience = patienceWith(env),
): Promise<Instance> {
  const config = readConfig({ PORT: '0', ADMIN_PORT: '0', ...POOL, ...JUDGE, ...env, ...throughPooler(env) });
  return openInstance(config, { log: createLog('debug', sink(lines)), say: () => undefined, startPglite, patience });
}

/** With TEST_POOLER_PORT, servers reach the database through the PgBouncer there, and tests themselves do not. */
function throughPooler({ DATABASE_URL = '', DATABASE_POOLER }: Readonly<Record<string, string>>) {
  const port = process.env.TEST_POOLER_PORT;
  if (port === undefined || DATABASE_URL === '' || DATABASE_POOLER !== undefined) return {};
  const url = new URL(DATABASE_URL);
  url.port = port;
  return { DATABASE_URL: url.href, DATABASE_POOLER: 'transaction' };
}

/** Half the cost of `fetch`, and tests make many thousands of requests. */
const AGENT = new Agent({ keepAlive: true });

/** An OpenFGA server on a busy machine may take too long, which is answered with 503. Clients are told to try again. */
export const MAX_ATTEMPTS = JUDGE.OPENFGA_URL === undefined ? 1 : 50;
export const RETRY_MS = 200;

async function sendPatiently(...request: Parameters<typeof send>): Promise<Answer> {
  for (let attempt = 1; ; attempt++) {
    const answer = await send(...request);
    if (answer.status !== 503 || !answer.headers.has('retry-after') || attempt >= MAX_ATTEMPTS) return answer;
    await new Promise((done) => setTimeout(done, RETRY_MS));
  }
}

async function send(
  url: string,
  method: string,
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<Answer> {
  const content = body === undefined || body instanceof Uint8Array ? body : textOf(body);
  const sent = {
    // As other clients do. A test that looks at the bytes themselves says what it accepts.
    'Accept-Encoding': 'gzip',
    ...(content !== undefined && { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(content) }),
    ...headers,
  };
  return new Promise((resolve, reject) => {
    const outgoing = request(url, { agent: AGENT, method, headers: sent }, (response) => {
      const chunks: Buffer[] = [];
      const isEndless = response.headers['content-type'] === 'text/event-stream';
      response.on('data', (chunk: Buffer) => {
        chunks.push(chunk);
        const text = isEndless ? Buffer.concat(chunks).toString() : '';
        // A stream of events ends when whoever asked has heard enough.
        if (!/^event: ready\n.*\n\n/m.test(text)) return;
        resolve(answerOf(response, text));
        if (!outgoing.path.includes('follow=false')) outgoing.destroy();
      });
      response.once('error', reject);
      response.once('end', () => {
        const answer = answerOf(response, decoded(response, Buffer.concat(chunks)).toString());
        const fault = undocumented(method, outgoing.path, answer);
        if (fault) reject(new Error(fault));
        else resolve(answer);
      });
    });
    outgoing.once('error', reject);
    outgoing.end(content);
  });
}

function decoded({ headers }: IncomingMessage, bytes: Buffer): Buffer {
  return headers['content-encoding'] === 'gzip' && bytes.length > 0 ? gunzipSync(bytes) : bytes;
}

function textOf(body: unknown): string {
  return typeof body === 'string' ? body : JSON.stringify(body);
}

function answerOf(response: IncomingMessage, text: string): Answer {
  const headers = new Headers();
  for (let index = 0; index < response.rawHeaders.length; index += 2) {
    headers.append(response.rawHeaders[index] ?? '', response.rawHeaders[index + 1] ?? '');
  }
  const isJson = /^application\/(?:(?:scim|problem)\+)?json/.test(headers.get('content-type') ?? '') && text !== '';
  return { status: response.statusCode ?? 0, headers, text, body: isJson ? JSON.parse(text) : undefined };
}

function sink(lines: string[]): Writable {
  return new Writable({
    write(chunk, _encoding, done) {
      lines.push(String(chunk));
      done();
    },
  });
}
