import { after } from 'node:test';
import type { ModelJson, Tuple } from '../../../packages/rebac/src/rebac.ts';
import { type OpenFgaProcess, runOpenFga } from './openfga-process.ts';

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
const running: OpenFgaProcess[] = [];
after(() => {
  for (const { stop } of running) stop();
});

/** Starts a real server that gives up on a request after that time. */
export async function startOpenFga(requestTimeoutMs: number): Promise<OpenFga> {
  const server = await runOpenFga({
    'max-checks-per-batch-check': BATCH,
    'max-concurrent-checks-per-batch-check': 16,
    'request-timeout': `${requestTimeoutMs}ms`,
  });
  running.push(server);
  return { write: (model, tuples = []) => write(server.url, model, tuples) };
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
