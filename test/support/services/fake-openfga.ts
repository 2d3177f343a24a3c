import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { check, createGraph, type Model, type ModelJson, readModelJson } from '../../../packages/rebac/src/rebac.ts';

interface Key {
  readonly user: string;
  readonly relation: string;
  readonly object: string;
}

interface Store {
  model: Model | undefined;
  tuples: Map<string, Key>;
}

type Body = Readonly<Record<string, unknown>>;
type Handler = (request: { path: string; body: Body; reply: Reply; proceed: () => void }) => void;

export interface Reply {
  send(status: number, body: unknown): void;
  drop(): void;
}

/**
 * Behaves like an OpenFGA server, as far as we use one, until it is told to misbehave. It proves nothing about a real
 * one: that is what test/long/openfga-engine.test.ts is for.
 */
export async function startFakeOpenFga() {
  const stores = new Map<string, Store>();
  const authorizations = new Set<string | undefined>();
  /** Whoever is set decides what happens to a request, and may let it proceed. */
  const state: { meddle: Handler | undefined; calls: number } = { meddle: undefined, calls: 0 };
  const server = createServer((request, response) => void receive(request, response));
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    stores,
    authorizations,
    state,
    /** The store that was created last. */
    latest: () => [...stores.values()].at(-1) ?? raise('there is no store'),
    write,
    keyOf,
    close: () =>
      new Promise<void>((done) => {
        server.close(() => done());
        server.closeAllConnections();
      }),
  };

  async function receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = JSON.parse(Buffer.concat(chunks).toString()) as Body;
    const path = request.url ?? '';
    authorizations.add(request.headers.authorization);
    state.calls += 1;
    const reply: Reply = {
      send(status, answer) {
        const text = typeof answer === 'string' ? answer : JSON.stringify(answer);
        response.writeHead(status, { 'Content-Type': 'application/json', Location: '/elsewhere' }).end(text);
      },
      drop: () => request.socket.destroy(),
    };
    const proceed = () => void answer(path, body).then(([status, content]) => reply.send(status, content));
    if (state.meddle) state.meddle({ path, body, reply, proceed });
    else proceed();
  }

  async function answer(path: string, body: Body): Promise<[number, unknown]> {
    if (path === '/stores') {
      const id = `store-${stores.size + 1}`;
      stores.set(id, { model: undefined, tuples: new Map() });
      return [201, { id }];
    }
    const [, , id = '', call] = path.split('/');
    const store = stores.get(id);
    if (store === undefined) return [404, { code: 'store_id_not_found', message: 'secret words' }];
    if (call === 'authorization-models') {
      store.model = await readModelJson(body as unknown as ModelJson);
      return [201, { authorization_model_id: `model-of-${id}` }];
    }
    if (call === 'write') return write(store, body);
    if (call === 'read') {
      const { object } = (body.tuple_key ?? {}) as Partial<Key>;
      const found = [...store.tuples.values()].filter((key) => object === undefined || key.object === object);
      return [200, { tuples: found.map((key) => ({ key })), continuation_token: '' }];
    }
    return [200, { result: Object.fromEntries(checksIn(body).map((one) => [one.correlation_id, decide(store, one)])) }];
  }

  function write(store: Store, body: Body): [number, unknown] {
    const keys = (part: unknown) => (part as { tuple_keys: Key[] } | undefined)?.tuple_keys ?? [];
    const [deletes, writes] = [keys(body.deletes), keys(body.writes)];
    const isWrong =
      deletes.some((key) => !store.tuples.has(keyOf(key))) || writes.some((key) => store.tuples.has(keyOf(key)));
    if (isWrong || deletes.length + writes.length > 100) return [400, { code: 'write_failed_due_to_invalid_input' }];
    for (const key of deletes) store.tuples.delete(keyOf(key));
    for (const key of writes) store.tuples.set(keyOf(key), key);
    return [200, {}];
  }
}

interface Check {
  readonly correlation_id: string;
  readonly tuple_key: Key;
  readonly contextual_tuples?: { readonly tuple_keys: readonly Key[] };
}

export function checksIn(body: Body): Check[] {
  return body.checks as Check[];
}

function decide(store: Store, { tuple_key, contextual_tuples }: Check): { allowed: boolean } {
  const model = store.model ?? raise('the store has no model');
  const contextualTuples = contextual_tuples?.tuple_keys;
  return { allowed: check(createGraph(model, store.tuples.values()), { ...tuple_key, contextualTuples }) };
}

function keyOf({ user, relation, object }: Key): string {
  return `${object} ${relation} ${user}`;
}

function raise(message: string): never {
  throw new Error(message);
}
