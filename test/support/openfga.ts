import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, renameSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { after } from 'node:test';
import type { ModelJson } from '../../src/rebac/syntax.ts';
import type { Tuple } from '../../src/rebac/tuple.ts';
import { freePort } from './ports.ts';
import { progress } from './progress.ts';

/** The release that the engine is measured by. */
export const OPENFGA_VERSION = 'v1.18.1';
const CACHE = resolve('.cache', `openfga-${OPENFGA_VERSION}`);
const PROGRAM = join(CACHE, 'openfga');
const PROGRESS_MS = 30_000;
/** Generous: it exists to name what is wrong, not to measure. */
const UP_WITHIN_MS = 60_000;

/** A reason to skip, or false: without Go there is no server, unless an earlier run has built it. */
export function lacksOpenFga(): string | false {
  if (existsSync(PROGRAM) || spawnSync('go', ['version']).status === 0) return false;
  return 'go is not installed, so OpenFGA cannot be built';
}

export type Context = Readonly<Record<string, unknown>>;

export interface Question {
  readonly user: string;
  readonly relation: string;
  readonly object: string;
  readonly context?: Context | undefined;
  readonly contextualTuples?: readonly Tuple[] | undefined;
}

/** What the server says: yes, no, the code and the reason of an error, or nothing in time. */
export type Answer = boolean | { readonly code: string; readonly message: string } | undefined;

export interface OpenFga {
  /** Writes a model into a new store. Returns the reason if the server refuses it. */
  write(model: ModelJson, tuples?: readonly Tuple[]): Promise<World | { readonly refused: string }>;
}

export interface World {
  checks(questions: readonly Question[]): Promise<Answer[]>;
  listObjects(question: Omit<Question, 'object'> & { readonly type: string }): Promise<string[] | 'error' | undefined>;
  listUsers(question: Omit<Question, 'user'> & { readonly type: string }): Promise<string[] | 'error' | undefined>;
}

const BATCH = 63;
const WRITE = 100;
/** Some random worlds have circles in which the server walks for very long. */
const TOO_SLOW = 'context deadline exceeded';
const running = new Set<ChildProcess>();
after(() => {
  for (const child of running) child.kill('SIGKILL');
});

export async function startOpenFga(requestTimeoutMs: number): Promise<OpenFga> {
  const url = await runOpenFga({
    'max-checks-per-batch-check': BATCH,
    'max-concurrent-checks-per-batch-check': 16,
    'request-timeout': `${requestTimeoutMs}ms`,
  });
  return { write: (model, tuples = []) => write(url, model, tuples) };
}

/**
 * Starts a real server on loopback that keeps everything in memory, and returns its URL. The first call on a machine
 * builds it.
 */
export async function runOpenFga(settings: Readonly<Record<string, string | number>> = {}): Promise<string> {
  if (!existsSync(PROGRAM)) await build();
  const url = `http://127.0.0.1:${await freePort()}`;
  const options = {
    'http-addr': new URL(url).host,
    'grpc-addr': `127.0.0.1:${await freePort()}`,
    'playground-enabled': false,
    'metrics-enabled': false,
    'profiler-enabled': false,
    'log-level': 'none',
    ...settings,
  };
  const args = Object.entries(options).map(([name, value]) => `--${name}=${value}`);
  const child = spawn(PROGRAM, ['run', ...args], { stdio: 'ignore' });
  running.add(child);
  await untilUp(url, child);
  return url;
}

/** Kept apart from the caches of the user, so that the time of a first build can be measured again. */
async function build(): Promise<void> {
  mkdirSync(CACHE, { recursive: true });
  const began = performance.now();
  const told = (): void =>
    progress(`building OpenFGA ${OPENFGA_VERSION}, ${Math.round((performance.now() - began) / 1000)} s so far`);
  told();
  const timer = setInterval(told, PROGRESS_MS);
  const env = { ...process.env, GOBIN: join(CACHE, 'bin'), GOFLAGS: '-buildvcs=false' };
  const child = spawn('go', ['install', `github.com/openfga/openfga/cmd/openfga@${OPENFGA_VERSION}`], {
    env,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  running.add(child);
  let said = '';
  child.stderr.on('data', (chunk: Buffer) => {
    said = `${said}${chunk}`.slice(-2000);
  });
  const status = await new Promise((done) => child.once('close', done));
  running.delete(child);
  clearInterval(timer);
  if (status !== 0) throw new Error(`OpenFGA ${OPENFGA_VERSION} cannot be built: ${said}`);
  renameSync(join(CACHE, 'bin', 'openfga'), PROGRAM);
  progress(`built OpenFGA in ${Math.round((performance.now() - began) / 1000)} s`);
}

async function untilUp(url: string, child: ChildProcess): Promise<void> {
  const until = performance.now() + UP_WITHIN_MS;
  for (;;) {
    const isUp = await fetch(`${url}/healthz`).then(
      ({ ok }) => ok,
      () => false,
    );
    if (isUp) return;
    if (child.exitCode !== null || performance.now() > until) throw new Error('OpenFGA did not start');
    await new Promise((done) => setTimeout(done, 50));
  }
}

interface Reply {
  readonly code?: string;
  readonly message?: string;
  readonly [field: string]: unknown;
}

async function post(url: string, body: object): Promise<Reply> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  return (await response.json()) as Reply;
}

async function write(url: string, model: ModelJson, tuples: readonly Tuple[]): Promise<World | { refused: string }> {
  const store = `${url}/stores/${(await post(`${url}/stores`, { name: 'world' })).id}`;
  const written = await post(`${store}/authorization-models`, model);
  if (written.code !== undefined) return { refused: written.message ?? written.code };
  const authorization_model_id = written.authorization_model_id as string;
  for (let from = 0; from < tuples.length; from += WRITE) {
    const tuple_keys = tuples.slice(from, from + WRITE).map(wire);
    const { code, message } = await post(`${store}/write`, { authorization_model_id, writes: { tuple_keys } });
    if (code !== undefined) throw new Error(`OpenFGA refuses a tuple: ${message}`);
  }
  return { checks, listObjects, listUsers };

  async function checks(questions: readonly Question[]): Promise<Answer[]> {
    const answers: Answer[] = [];
    for (let from = 0; from < questions.length; from += BATCH) {
      const part = questions.slice(from, from + BATCH);
      const reply = await post(`${store}/batch-check`, {
        authorization_model_id,
        checks: part.map(({ user, relation, object, context, contextualTuples }, index) => ({
          correlation_id: String(index),
          tuple_key: { user, relation, object },
          context,
          contextual_tuples: contextualTuples && { tuple_keys: contextualTuples.map(wire) },
        })),
      });
      if (reply.result === undefined && reply.message !== TOO_SLOW) {
        throw new Error(`OpenFGA refuses a batch: ${reply.message}`);
      }
      const result = (reply.result ?? {}) as Record<string, { allowed?: boolean; error?: Record<string, string> }>;
      answers.push(...part.map((_, index) => answer(result[String(index)])));
    }
    return answers;
  }

  async function listObjects({ user, relation, type, context, contextualTuples }: Parameters<World['listObjects']>[0]) {
    const reply = await post(`${store}/list-objects`, {
      authorization_model_id,
      ...{ user, relation, type, context },
      contextual_tuples: contextualTuples && { tuple_keys: contextualTuples.map(wire) },
    });
    if (reply.message === TOO_SLOW) return;
    return reply.objects === undefined ? 'error' : (reply.objects as string[]).sort();
  }

  async function listUsers({ object, relation, type, context, contextualTuples }: Parameters<World['listUsers']>[0]) {
    const [objectType, id] = object.split(':');
    const reply = await post(`${store}/list-users`, {
      authorization_model_id,
      ...{ object: { type: objectType, id }, relation, context },
      user_filters: [{ type }],
      contextual_tuples: contextualTuples?.map(wire),
    });
    if (reply.message === TOO_SLOW) return;
    if (reply.users === undefined) return 'error';
    const users = reply.users as { object?: { type: string; id: string }; wildcard?: { type: string } }[];
    return users
      .map((user) => (user.wildcard ? `${user.wildcard.type}:*` : `${user.object?.type}:${user.object?.id}`))
      .sort();
  }
}

function wire({ user, relation, object, condition }: Tuple): object {
  return { user, relation, object, ...(condition && { condition }) };
}

function answer(result: { allowed?: boolean; error?: Record<string, string> } | undefined): Answer {
  if (result?.error === undefined) return result && result.allowed === true;
  const { message = '', ...codes } = result.error;
  if (message === TOO_SLOW) return;
  return { code: Object.values(codes)[0] ?? 'error', message };
}
