import { Writable } from 'node:stream';
import { readConfig } from '../../src/config.ts';
import { buildWorld, type DemoWorld } from '../../src/demo/world.ts';
import { type House, openHouse } from '../../src/house.ts';
import { createLog } from '../../src/log.ts';
import { migrated, newPlace } from './db.ts';

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The body as JSON; undefined when there is none. */
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

export interface TestHouse {
  readonly url: string;
  readonly dataDir: string;
  readonly house: House;
  readonly world: DemoWorld;
  /** Every line that was logged so far. */
  readonly logged: () => string;
  /** `as('ann')('GET', '/user')`: a call under /api/v1 with the token of that person; `as()` sends no credential. */
  as(name?: string): Call;
  call: Call;
  close(): Promise<void>;
}

export interface TestHouseOptions {
  readonly driver?: 'pglite' | 'postgres';
  readonly env?: Readonly<Record<string, string>>;
}

/** A whole house with the demo world in it, on a database of its own, listening on loopback. */
export async function openTestHouse({ driver = 'postgres', env = {} }: TestHouseOptions = {}): Promise<TestHouse> {
  // Migrating is another test's business, and takes longer than most tests of a house.
  const { dataDir, databaseUrl = '' } = await newPlace(driver, migrated());
  const lines: string[] = [];
  const log = createLog('debug', sink(lines));
  const settings = { PORT: '0', ADMIN_PORT: '0', DATA_DIR: dataDir, DATABASE_URL: databaseUrl, ...env };
  const house = await openHouse(readConfig(settings), { log, say: () => undefined });
  const world = await buildWorld(house);
  const url = await house.listen();
  const call: Call = (method, path, body, headers, base) => send(`${base || url}${path}`, method, body, headers);
  return {
    url,
    dataDir,
    house,
    world,
    call,
    logged: () => lines.join(''),
    as: (name) => {
      const token = name === undefined ? undefined : world.users[name]?.token;
      if (name !== undefined && token === undefined) throw new Error(`nobody is called ${name}`);
      return (method, path, body, headers) =>
        call(method, `/api/v1${path}`, body, { ...(token && { Authorization: `token ${token}` }), ...headers });
    },
    close: () => house.close(),
  };
}

async function send(
  url: string,
  method: string,
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<Answer> {
  const isText = typeof body === 'string' || body instanceof Uint8Array;
  const response = await fetch(url, {
    method,
    redirect: 'manual',
    headers: { ...(body !== undefined && { 'Content-Type': 'application/json' }), ...headers },
    ...(body !== undefined && { body: isText ? (body as string) : JSON.stringify(body) }),
  });
  const text = await response.text();
  const isJson = response.headers.get('content-type')?.startsWith('application/json') && text !== '';
  return { status: response.status, headers: response.headers, text, body: isJson ? JSON.parse(text) : undefined };
}

function sink(lines: string[]): Writable {
  return new Writable({
    write(chunk, _encoding, done) {
      lines.push(String(chunk));
      done();
    },
  });
}
