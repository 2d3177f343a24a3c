import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import dns from 'node:dns';
import { createServer, type Server, type ServerResponse } from 'node:http';
import { syncBuiltinESMExports } from 'node:module';
import type { AddressInfo } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { createAddressGuard, createGuardedAgents } from '../../src/base/outbound/guarded-agents.ts';
import { listAzure } from '../../src/buckets/azure.client.ts';
import { listGoogle } from '../../src/buckets/google.client.ts';
import { listS3 } from '../../src/buckets/s3.client.ts';
import type { Asking } from '../../src/buckets/service-call.client.ts';

const HOST = 'storage.rebinding.example';
/** Stands for an address on the public internet: the only one that the guard allows here. */
const PUBLIC = '127.0.0.2';
const PRIVATE = '127.0.0.1';

const TOKEN = { access_token: 'x', expires_in: 3600, token_type: 'Bearer' };

type Found = (error: Error | null, addresses: dns.LookupAddress[]) => void;

const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();

/** Every client that connects to a host that a user chose. */
const CLIENTS: Readonly<Record<string, (endpoint: string, asking: Asking) => Promise<string[]>>> = {
  S3: (endpoint, asking) =>
    listS3(
      { kind: 's3', endpoint, region: 'x', accessKeyId: 'a', secretAccessKey: 'b', sessionToken: undefined },
      asking,
    ),
  Azure: (endpoint, asking) =>
    listAzure({ kind: 'azure', endpoint: `${endpoint}/acc`, account: 'acc', key: 'a2V5' }, asking),
  'Google Storage': (endpoint, asking) => google(endpoint, undefined, asking),
  "Google's token service": (endpoint, asking) => google(undefined, `${endpoint}/token`, asking),
};

function google(endpoint: string | undefined, tokenUri: string | undefined, asking: Asking): Promise<string[]> {
  const account = { kind: 'google', project: 'p', email: 'e@example.com', privateKey: pem } as const;
  const base = endpoint ?? `http://${HOST}:1`;
  return listGoogle({ ...account, endpoint: base, tokenUri: tokenUri ?? `${base}/token` }, asking);
}

describe('A resolver that changes its mind', () => {
  const resolve = dns.lookup;
  let open: Server;
  let victim: Server;
  let port = 0;
  let reached = 0;
  let asked = 0;
  /** So that the client of the storage gets as far as the storage. */
  let issuesTokens = false;
  let lookups: string[][] = [];
  let answers: readonly (readonly string[])[] = [];
  let respond: (response: ServerResponse) => void = () => undefined;

  before(async () => {
    open = createServer((request, response) => {
      asked += 1;
      // The next request needs a new connection, and so a new lookup.
      response.setHeader('Connection', 'close');
      const isToken = request.url === '/token' && issuesTokens;
      if (isToken) response.setHeader('Content-Type', 'application/json').end(JSON.stringify(TOKEN));
      else respond(response);
    });
    await new Promise<void>((done) => open.listen(0, PUBLIC, done));
    port = (open.address() as AddressInfo).port;
    victim = createServer((_request, response) => void response.end('secret'));
    victim.on('connection', () => {
      reached += 1;
    });
    await new Promise<void>((done) => victim.listen(port, PRIVATE, done));
    const fake = (_host: string, _options: dns.LookupOptions, done: Found) => {
      const addresses = [...(answers[Math.min(lookups.length, answers.length - 1)] ?? [])];
      lookups.push(addresses);
      done(
        null,
        addresses.map((address) => ({ address, family: 4 })),
      );
    };
    dns.lookup = fake as unknown as typeof dns.lookup;
    syncBuiltinESMExports();
  });
  after(() => {
    dns.lookup = resolve;
    syncBuiltinESMExports();
    open.close();
    victim.close();
  });

  function prepare(given: typeof answers, answer: typeof respond): void {
    answers = given;
    respond = answer;
    lookups = [];
    reached = 0;
    asked = 0;
  }

  async function list(name: string, given: typeof answers, answer: typeof respond): Promise<void> {
    prepare(given, answer);
    issuesTokens = name === 'Google Storage';
    const agents = createGuardedAgents(createAddressGuard([PUBLIC]));
    agents.failed.catch(() => undefined);
    const asking = { agents, max: 10, signal: AbortSignal.timeout(20_000) };
    const client = CLIENTS[name] ?? assert.fail();
    await assert.rejects(client(`http://${HOST}:${port}`, asking), name);
    agents.destroy();
  }

  for (const name of Object.keys(CLIENTS)) {
    it(`A client of ${name} does not connect when a public name becomes private between two requests`, async () => {
      await list(name, [[PUBLIC], [PRIVATE]], (response) => void response.writeHead(503).end());
      assert.equal(reached, 0);
      assert.ok(asked >= 1, 'the public address was never asked');
    });

    it(`A client of ${name} does not follow a redirect to a private address`, async () => {
      const location = `http://${PRIVATE}:${port}/`;
      await list(name, [[PUBLIC]], (response) => void response.writeHead(302, { Location: location }).end());
      assert.equal(reached, 0);
      assert.ok(asked >= 1, 'the public address was never asked');
    });

    it(`A client of ${name} uses only the public ones of several addresses`, async () => {
      await list(name, [[PRIVATE, PUBLIC]], (response) => void response.writeHead(403).end());
      assert.equal(reached, 0);
      assert.ok(asked >= 1, 'the public address was never asked');
    });
  }

  it('Without the guard, the second request reaches the private address', async () => {
    prepare([[PUBLIC], [PRIVATE]], (response) => void response.writeHead(503).end());
    const agents = createGuardedAgents(() => true);
    agents.failed.catch(() => undefined);
    const asking = { agents, max: 10, signal: AbortSignal.timeout(20_000) };
    await CLIENTS.S3?.(`http://${HOST}:${port}`, asking).catch(() => undefined);
    agents.destroy();
    assert.ok(lookups.length > 1 && reached > 0, `${lookups.length} lookups, ${reached} connections`);
  });
});
