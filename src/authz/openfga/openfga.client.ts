import type { ModelJson } from '../../../packages/rebac/src/rebac.ts';
import { readJson, writeJson } from '../../base/json.ts';
import { readBody } from '../../base/outbound/response-body.ts';
import {
  fenceOf,
  fenceTuple,
  MAX_TUPLES,
  type OpenFgaServer,
  openFgaFailed,
  type ServerCheck,
  type ServerStore,
  type ServerTuple,
} from './openfga-server.ts';

interface OpenFgaOptions {
  readonly url: string;
  readonly token: string | undefined;
  readonly model: ModelJson;
  readonly timeoutMs?: number;
}

interface Reply {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
}

const TIMEOUT_MS = 3000;
const MAX_BYTES = 1024 * 1024;
const STORE_NAME = 'atrium';
/** Neither the stores nor the caches of another server may answer in place of the one that was written to. */
const CONSISTENCY = 'HIGHER_CONSISTENCY';
const GONE = ['store_id_not_found', 'authorization_model_not_found', 'latest_authorization_model_not_found'];

/** Talks to an OpenFGA server. Of what a server says, only codes of errors are passed on. */
export function createOpenFga({ url, token, model, timeoutMs = TIMEOUT_MS }: OpenFgaOptions): OpenFgaServer {
  const headers = { 'Content-Type': 'application/json', ...(token && { Authorization: `Bearer ${token}` }) };
  return { create, fence, write, check, read };

  async function create(): Promise<ServerStore> {
    const storeId = textIn(await done('/stores', { name: STORE_NAME }), 'id');
    const written = await done(`/stores/${storeId}/authorization-models`, model);
    return { storeId, modelId: textIn(written, 'authorization_model_id') };
  }

  async function fence({ storeId }: ServerStore): Promise<string | undefined> {
    const { object, relation } = fenceTuple('');
    const body = { tuple_key: { object, relation }, page_size: 2, consistency: CONSISTENCY };
    const reply = await call(`/stores/${storeId}/read`, body);
    if (isGone(reply)) return undefined;
    const tuples = tuplesIn(accepted(reply));
    if (tuples.length > 1) throw openFgaFailed('the store has two fences');
    return tuples[0] && fenceOf(tuples[0]);
  }

  async function write(store: ServerStore, { writes, deletes }: Parameters<OpenFgaServer['write']>[1]) {
    const reply = await call(`/stores/${store.storeId}/write`, {
      authorization_model_id: store.modelId,
      ...(writes.length > 0 && { writes: { tuple_keys: writes } }),
      ...(deletes.length > 0 && { deletes: { tuple_keys: deletes } }),
    });
    if (isGone(reply) || codeOf(reply) === 'write_failed_due_to_invalid_input') return 'rejected';
    accepted(reply);
    return 'done';
  }

  async function check(store: ServerStore, checks: readonly ServerCheck[]): Promise<boolean[] | undefined> {
    const reply = await call(`/stores/${store.storeId}/batch-check`, {
      authorization_model_id: store.modelId,
      consistency: CONSISTENCY,
      checks: checks.map(({ object, relation, user, contextual }, place) => ({
        correlation_id: String(place),
        tuple_key: { user, relation, object },
        ...(contextual && { contextual_tuples: { tuple_keys: [contextual] } }),
      })),
    });
    if (isGone(reply)) return undefined;
    const { result } = accepted(reply);
    if (!isObject(result)) throw garbage();
    return checks.map((_, place) => {
      const one = result[String(place)];
      // An error is not a denial: a relation that is excluded would then be granted elsewhere.
      if (!isObject(one) || one.error !== undefined || typeof (one.allowed ?? false) !== 'boolean') throw garbage();
      return one.allowed === true;
    });
  }

  async function* read({ storeId }: ServerStore): AsyncIterable<readonly ServerTuple[]> {
    for (let token = ''; ; ) {
      const body = await done(`/stores/${storeId}/read`, {
        page_size: MAX_TUPLES,
        continuation_token: token,
        consistency: CONSISTENCY,
      });
      yield tuplesIn(body);
      const next = body.continuation_token ?? '';
      if (next === '') return;
      if (typeof next !== 'string' || next === token) throw garbage();
      token = next;
    }
  }

  async function done(path: string, body: object): Promise<Reply['body']> {
    return accepted(await call(path, body));
  }

  async function call(path: string, body: object): Promise<Reply> {
    try {
      const response = await fetch(`${url}${path}`, {
        method: 'POST',
        headers,
        body: writeJson(body),
        redirect: 'error',
        signal: AbortSignal.timeout(timeoutMs),
      });
      const text = await readBody(response, MAX_BYTES);
      return { status: response.status, body: readObject(text, response.ok) };
    } catch (cause) {
      throw openFgaFailed('it does not answer', cause);
    }
  }
}

/** What an error consists of does not matter: some come from a proxy in front of the server. */
function readObject(text: Buffer, isNeeded: boolean): Reply['body'] {
  try {
    const body = readJson(text);
    if (isObject(body)) return body;
  } catch (error) {
    if (isNeeded) throw error;
  }
  if (isNeeded) throw new Error('the response is not an object');
  return {};
}

function codeOf({ body }: Reply): string {
  return typeof body.code === 'string' && /^\w{1,100}$/.test(body.code) ? body.code : '';
}

function isGone(reply: Reply): boolean {
  return GONE.includes(codeOf(reply));
}

function accepted(reply: Reply): Reply['body'] {
  if (reply.status >= 200 && reply.status < 300) return reply.body;
  if (reply.status === 401 || reply.status === 403) throw openFgaFailed('it rejects our token (OPENFGA_API_TOKEN)');
  throw openFgaFailed(`it answered ${reply.status} ${codeOf(reply)}`.trimEnd());
}

function tuplesIn(body: Reply['body']): ServerTuple[] {
  if (!Array.isArray(body.tuples)) throw garbage();
  return body.tuples.map((item: unknown) => {
    const key = isObject(item) ? item.key : undefined;
    if (!isObject(key)) throw garbage();
    return { object: textIn(key, 'object'), relation: textIn(key, 'relation'), user: textIn(key, 'user') };
  });
}

function textIn(body: Readonly<Record<string, unknown>>, field: string): string {
  const value = body[field];
  if (typeof value !== 'string' || value === '') throw garbage();
  return value;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function garbage() {
  return openFgaFailed('its answer makes no sense');
}
