import assert from 'node:assert/strict';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { after, before, describe, it } from 'node:test';
import { createClient, type Fetch, RawBody } from '../../client/client.ts';
import { ApiError, UnreachableError } from '../../client/errors.ts';
import { readJson, writeJson } from '../../client/json.ts';
import { openTestServer, type TestServer } from '../support/server/server.ts';
import { freePort } from '../support/services/ports.ts';

const BIG = 9007199254740993n;

describe('API client with a server', () => {
  let atrium: TestServer;
  const as = (name: string) => createClient({ baseUrl: atrium.url, token: atrium.world.users[name]?.token });
  before(async () => {
    atrium = await openTestServer();
  });
  after(() => atrium.close());

  it('The client returns typed answers with IDs as bigint', async () => {
    const user = await as('ann').call('GET /user');
    assert.equal(user.login, 'ann');
    assert.equal(user.id, atrium.world.users.ann?.id);
    const [role] = await as('ann').call('GET /authz/roles', { query: { org: 'acme' } });
    assert.equal(typeof role?.id, 'bigint');
    assert.equal(typeof role?.team_ids[0], 'bigint');
  });

  it('The client sends and reads int64 values exactly', async () => {
    const query = { org: 'acme' };
    const [answer] = await as('ann').call('POST /authz/objects/allowed-permissions', {
      query,
      body: [{ objectType: 'cluster', objectID: BIG }],
    });
    assert.equal(answer?.objectID, BIG);
    const path = { objectType: 'cluster', objID: BIG };
    const one = await as('ann').call('GET /authz/objects/{objectType}/{objID}/allowed-permissions', { path, query });
    assert.equal(one.objectID, BIG);
  });

  it('The client preserves every number in a credential as it was written', async () => {
    const text =
      '{"name":"exact","type":"X","n":[1.0,1e3,9007199254740993,0.1000000000000000055,-0,123456789012345678901234567890]}';
    await as('ann').call('POST /user/credentials', { body: new RawBody(text) });
    const { creationTimestamp, ...back } = await as('ann').call('GET /user/credentials/{credName}', {
      path: { credName: 'exact' },
    });
    assert.match(creationTimestamp, /^\d{4}-/);
    assert.equal(writeJson(back), text);
  });

  it('The client follows events, connects again by itself, and hears each change once', async () => {
    const [stop, lost, seen] = [new AbortController(), [] as unknown[], [] as string[]];
    let connections = 0;
    const bodies: { destroy(): void }[] = [];
    const send: Fetch = async (url, init) => {
      connections += 1;
      const answer = await fetch(url, init);
      const body = Readable.fromWeb(answer.body as never);
      bodies.push(body);
      return { status: answer.status, headers: answer.headers, body, text: () => answer.text() };
    };
    const client = createClient({ baseUrl: atrium.url, token: atrium.world.users.ann?.token, fetch: send });
    const create = async (name: string) =>
      (await atrium.as('ann')('POST', '/orgs/acme/teams', { name, permission: 'none' })).body.id as number;
    const made: number[] = [];
    for await (const event of client.events({ org: 'acme', signal: stop.signal, onLost: (why) => lost.push(why) })) {
      if (event.type === 'ready' && connections === 1) made.push(await create('heard-1'));
      if (event.type !== 'change') continue;
      seen.push(...event.changes.map(({ kind, id, organization }) => `${kind} ${id} ${organization}`));
      if (seen.length === 1) {
        // While the connection is gone, something happens.
        bodies[0]?.destroy();
        made.push(await create('heard-2'));
      } else stop.abort();
    }
    assert.deepEqual(
      seen,
      made.map((id) => `team ${id} acme`),
    );
    assert.deepEqual([connections, lost.length], [2, 1]);
    const refused = async () => {
      for await (const _ of as('eve').events({ org: 'acme' })) assert.fail('eve hears of acme');
    };
    await assert.rejects(refused, { status: 403 });
  });

  it('The client iterates over every page of a list', async () => {
    const names: string[] = [];
    for await (const one of as('root').each('GET /user/followers', { query: { limit: 20 } })) names.push(one.login);
    assert.equal(names.length, 45);
    assert.equal(new Set(names).size, 45);
    const { total, nextPage } = await as('root').request('GET /user/followers', { query: { page: 2, limit: 20 } });
    assert.deepEqual([total, nextPage], [45, 3]);
  });

  it('The client returns the ETag, and a write with an outdated one fails with 412', async () => {
    const at = { path: { id: atrium.world.orgs.acme?.roles['cluster-operator'] ?? 0n }, query: { org: 'acme' } };
    const { etag } = await as('ann').request('GET /authz/roles/{id}', at);
    await as('ann').call('PUT /authz/roles/{id}', { ...at, body: { description: 'new' }, ifMatch: etag });
    const late = as('ann').call('PUT /authz/roles/{id}', { ...at, body: { description: 'late' }, ifMatch: etag });
    await assert.rejects(late, (error) => error instanceof ApiError && error.status === 412);
  });

  it('The client turns an error response into an ApiError with all its details', async () => {
    const wrong = as('ann').call('POST /user/emails', { body: { emails: ['nonsense'] } });
    await assert.rejects(wrong, (error) => {
      assert.ok(error instanceof ApiError);
      assert.equal(error.status, 422);
      assert.ok(error.errors.length > 0);
      assert.match(error.requestId, /\S/);
      return true;
    });
    const nobody = createClient({ baseUrl: atrium.url }).call('GET /user');
    await assert.rejects(nobody, (error) => error instanceof ApiError && error.message === 'token is required');
  });

  it('A path parameter of the client never leaves its path segment', async () => {
    for (const credName of ['../emails', '..', '.', 'a/b', 'ü?x=1#y']) {
      const asked = as('ann').call('GET /user/credentials/{credName}', { path: { credName } });
      const status = /^\.+$/.test(credName) ? 400 : 404;
      await assert.rejects(asked, (error) => error instanceof ApiError && error.status === status, credName);
    }
  });
});

describe('API client and calls that create something', () => {
  const AT = { path: { org: 'acme' }, body: { name: 'x' } };
  const KEY = 'idempotency-key';
  const reject = (reply: Parameters<RequestListener>[1], status: number, reason: string, after?: string) => {
    if (after !== undefined) reply.setHeader('Retry-After', after);
    reply.statusCode = status;
    json(reply, JSON.stringify({ message: 'no', url: '', reason }));
  };

  it('The client sends its own new key with every call that creates something, and with no other', async () => {
    const seen: (string | undefined)[] = [];
    await answering(
      (request, reply) => {
        seen.push(request.headers[KEY] as string | undefined);
        json(reply, '{"id":1}');
      },
      async (baseUrl) => {
        const client = createClient({ baseUrl, token: 'x' });
        await client.call('POST /orgs/{org}/teams', AT);
        await client.call('POST /orgs/{org}/teams', { ...AT, idempotencyKey: undefined });
        await client.call('POST /orgs/{org}/teams', { ...AT, idempotencyKey: 'my own' });
        await client.call('GET /user');
        await client.call('POST /user/validate/username', { query: { user_name: 'x' } });
      },
    );
    const [first, second, ...others] = seen;
    assert.match(`${first} ${second}`, /^[0-9a-f]{32} [0-9a-f]{32}$/);
    assert.notEqual(first, second);
    assert.deepEqual(others, ['my own', undefined, undefined]);
  });

  it('The client repeats a call with its key if the answer was lost or the server asks for it', async () => {
    const lose: RequestListener = (request) => void request.socket.destroy();
    const stories: RequestListener[][] = [
      [lose],
      [(_request, reply) => reject(reply, 503, 'unavailable', '0')],
      [(_request, reply) => reject(reply, 502, '', '0')],
      [lose, (_request, reply) => reject(reply, 409, 'request_in_progress', '0')],
    ];
    for (const story of stories) {
      const seen: string[] = [];
      await answering(
        (request, reply) => {
          seen.push(`${request.headers[KEY]}`);
          const step = story[seen.length - 1];
          if (step) step(request, reply);
          else json(reply, '{"id":7}');
        },
        async (baseUrl) => {
          const { id } = await createClient({ baseUrl, token: 'x' }).call('POST /orgs/{org}/teams', AT);
          assert.equal(id, 7n);
        },
      );
      assert.equal(seen.length, story.length + 1);
      assert.equal(new Set(seen).size, 1);
    }
  });

  it('The client gives up after three attempts, and repeats nothing that could have two effects', async () => {
    const attempts = async (listener: RequestListener, call: (baseUrl: string) => Promise<unknown>) => {
      let count = 0;
      await answering(
        (request, reply) => {
          count++;
          listener(request, reply);
        },
        (baseUrl) => assert.rejects(call(baseUrl)),
      );
      return count;
    };
    const create = (baseUrl: string) => createClient({ baseUrl, token: 'x' }).call('POST /orgs/{org}/teams', AT);
    const change = (baseUrl: string) =>
      createClient({ baseUrl, token: 'x' }).call('PATCH /teams/{id}', { path: { id: 1 }, body: {} });
    const lose: RequestListener = (request) => void request.socket.destroy();
    assert.equal(await attempts(lose, create), 3);
    assert.equal(await attempts(lose, change), 1);
    assert.equal(await attempts((_request, reply) => reject(reply, 503, 'unavailable', '0'), create), 3);
    assert.equal(await attempts((_request, reply) => reject(reply, 503, 'unavailable', '0'), change), 1);
    assert.equal(await attempts((_request, reply) => reject(reply, 503, 'unavailable', '60'), create), 1);
    for (const [status, reason] of [
      [409, 'conflict'],
      [422, 'idempotency_key_reused'],
      [429, 'rate_limited'],
      [500, 'internal_error'],
    ] as const) {
      assert.equal(await attempts((_request, reply) => reject(reply, status, reason), create), 1, reason);
    }
  });

  it('The client waits as a rate limit or an unavailable server asks, where repeating has no second effect', async () => {
    const attempts = async (status: number, after: string, name: 'GET /user' | 'PATCH /user', more = {}) => {
      let count = 0;
      await answering(
        (_request, reply) => (++count === 1 ? reject(reply, status, 'busy', after) : json(reply, '{"id":1}')),
        async (baseUrl) => {
          const client = createClient({ baseUrl, token: 'x', ...more });
          const call = name === 'GET /user' ? client.call(name) : client.call(name, { body: {} });
          await call.catch((error) => assert.equal(error.status, status));
        },
      );
      return count;
    };
    assert.equal(await attempts(429, '0', 'GET /user'), 2);
    assert.equal(await attempts(429, '0', 'PATCH /user'), 2);
    assert.equal(await attempts(503, '0', 'GET /user'), 2);
    assert.equal(await attempts(503, '0', 'PATCH /user'), 1);
    assert.equal(await attempts(429, '60', 'GET /user'), 1);
    assert.equal(await attempts(502, '0', 'GET /user'), 1);
    assert.equal(await attempts(503, '0', 'GET /user', { retryReads: false }), 1);
  });

  it('In session mode the client sends cookies, and repeats the CSRF token of the last response', async () => {
    const seen: unknown[] = [];
    const tokens = ['first', 'second'];
    const fetch: Fetch = async (_url, { method, headers, credentials }) => {
      seen.push([method, headers['X-Csrf-Token'], headers.Authorization, credentials]);
      return new Response('{"id":1}', {
        headers: { 'Content-Type': 'application/json', 'X-Csrf-Token': tokens.shift() ?? 'last' },
      });
    };
    const client = createClient({ baseUrl: 'http://atrium.test', session: 'include', fetch });
    await client.call('PATCH /user', { body: {} });
    await client.call('GET /user');
    await client.call('PATCH /user', { body: {} });
    assert.deepEqual(seen, [
      ['PATCH', undefined, undefined, 'include'],
      ['GET', undefined, undefined, 'include'],
      ['PATCH', 'second', undefined, 'include'],
    ]);
  });

  it('The time limit of a call includes its repeats', async () => {
    await answering(
      (_request, reply) => reject(reply, 503, 'unavailable', '5'),
      async (baseUrl) => {
        const call = createClient({ baseUrl, timeoutMs: 2000 }).call('POST /orgs/{org}/teams', AT);
        await assert.rejects(call, (error) => error instanceof ApiError && error.status === 503);
        const stop = new AbortController();
        const stopped = createClient({ baseUrl }).call('POST /orgs/{org}/teams', { ...AT, signal: stop.signal });
        stop.abort();
        await assert.rejects(stopped);
      },
    );
  });
});

describe('API client with other servers', () => {
  it('The client reports a server that is unreachable, too slow or not the API', async () => {
    const gone = createClient({ baseUrl: `http://127.0.0.1:${await freePort()}` }).call('GET /version');
    await assert.rejects(gone, (error) => error instanceof UnreachableError && /ECONNREFUSED/.test(error.message));
    await answering(
      () => undefined,
      async (baseUrl) => {
        const slow = createClient({ baseUrl, timeoutMs: 50 }).call('GET /version');
        await assert.rejects(slow, (error) => error instanceof UnreachableError && /within 0.05 s/.test(error.message));
      },
    );
    await answering(
      (_request, reply) => void reply.setHeader('Content-Type', 'text/html').end('<html>'),
      async (baseUrl) => {
        const page = createClient({ baseUrl }).call('GET /version');
        await assert.rejects(page, (error) => error instanceof UnreachableError && /web page/.test(error.message));
      },
    );
  });

  it('The client never sends its token to another host through a redirect or a page link', async () => {
    const seen: (string | undefined)[] = [];
    await answering(
      (request, reply) => {
        seen.push(`${request.url} ${request.headers.authorization}`);
        if (request.url?.includes('page=2')) return void json(reply, '[]');
        reply.setHeader('Link', '<http://elsewhere.example/api/v1/user/followers?page=2>; rel="next"');
        json(reply, '[{"id":1}]');
      },
      async (baseUrl) => {
        const client = createClient({ baseUrl, token: 'x' });
        assert.equal((await Array.fromAsync(client.each('GET /user/followers'))).length, 1);
      },
    );
    assert.deepEqual(seen, [
      '/api/v1/user/followers?limit=50 token x',
      '/api/v1/user/followers?limit=50&page=2 token x',
    ]);
    await answering(
      (_request, reply) => void reply.writeHead(302, { Location: 'http://127.0.0.1:1/' }).end(),
      async (baseUrl) => {
        const client = createClient({ baseUrl, token: 'x' });
        await assert.rejects(client.call('GET /user'), (error) => error instanceof UnreachableError);
      },
    );
  });
});

describe('Exact JSON', () => {
  it('Reading JSON turns int64 fields and unsafe integers into bigint and leaves other numbers unchanged', () => {
    const value = readJson('{"id":1,"n":2,"list":[{"id":3}],"big":9007199254740993}', { int64: ['id', 'list.*.id'] });
    assert.deepEqual(value, { id: 1n, n: 2, list: [{ id: 3n }], big: BIG });
  });

  it('JSON numbers are written exactly as they were read', () => {
    for (const text of ['1.0', '1e3', '9007199254740993', '0.10', '[1,2.50]', '1E400', '-0']) {
      assert.equal(writeJson(readJson(text)), text);
    }
  });
});

async function answering(listener: RequestListener, use: (url: string) => Promise<void>): Promise<void> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  try {
    await use(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

function json(reply: Parameters<RequestListener>[1], text: string): void {
  reply.setHeader('Content-Type', 'application/json').end(text);
}
