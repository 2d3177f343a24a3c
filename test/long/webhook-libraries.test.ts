import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { createHmac, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { COUNTS } from '../counts.ts';
import { until } from '../support/checks/until.ts';
import { temporaryFolder } from '../support/server/db.ts';
import { openTestServer, type TestServer } from '../support/server/server.ts';
import { lacksProgram, lacksPython, mustRun, npmTools, pythonTools } from '../support/services/foreign-tools.ts';
import { freePort } from '../support/services/ports.ts';
import { type ReceivedMessage, startReceiver, type WebhookReceiver } from '../support/services/webhook-receiver.ts';

const GUIDE = readFileSync('docs/webhooks.md', 'utf8');
const NPM_PACKAGE = 'standardwebhooks@1.1.1';
const PYTHON_PACKAGE = 'standardwebhooks==1.1.0';
const GO_MODULE = 'github.com/standard-webhooks/standard-webhooks/libraries@v0.0.1';
const FORMATS = ['standard', 'cloudevents'] as const;
/** What the libraries accept as the difference of two clocks. */
const TOLERANCE_SECONDS = 300;

type Headers = Readonly<Record<string, string>>;

interface Receiver {
  readonly url: string;
  readonly stop: () => Promise<void>;
}

/** The receivers that the guide shows, with the official libraries as their users install them. */
describe('Receivers of the guide of webhooks', () => {
  let atrium: TestServer;
  before(async () => {
    atrium = await openTestServer({ env: { WEBHOOK_ALLOWED_NETWORKS: '127.0.0.0/8' } });
  });
  after(() => atrium.close());

  it('The receiver for Node accepts every delivery and rejects every tampered one', async () => {
    const place = temporaryFolder();
    const tools = await npmTools('webhooks', [NPM_PACKAGE]);
    cpSync(join(tools, 'node_modules'), join(place, 'node_modules'), { recursive: true });
    await verified(async (secret, port) => {
      writeFileSync(join(place, `${port}.mjs`), guideCode('js', ['.listen(8080)', `.listen(${port}, '127.0.0.1')`]));
      return await started(process.execPath, [`${port}.mjs`], { place, secret, port });
    });
  });

  it('The receiver for Python accepts every delivery and rejects every tampered one', {
    skip: lacksPython(),
  }, async () => {
    const place = temporaryFolder();
    const bin = await pythonTools('webhooks', [PYTHON_PACKAGE]);
    await verified(async (secret, port) => {
      writeFileSync(join(place, `${port}.py`), guideCode('python', ['("", 8080)', `("127.0.0.1", ${port})`]));
      return await started(join(bin, 'python'), ['-u', `${port}.py`], { place, secret, port });
    });
  });

  it('The receiver for Go accepts every delivery and rejects every tampered one', {
    skip: lacksProgram('go', 'version'),
  }, async () => {
    const place = temporaryFolder();
    await mustRun('go', ['mod', 'init', 'receiver'], { cwd: place });
    await mustRun('go', ['get', GO_MODULE], { cwd: place });
    await verified(async (secret, port) => {
      writeFileSync(join(place, 'main.go'), guideCode('go', ['":8080"', `"127.0.0.1:${port}"`]));
      await mustRun('go', ['build', '-buildvcs=false', '-o', `receiver-${port}`, '.'], { cwd: place });
      return await started(join(place, `receiver-${port}`), [], { place, secret, port });
    });
  });

  /** Sends real deliveries to the receiver, of both formats and during a rotation, and then what was changed on its way. */
  async function verified(start: (secret: string, port: number) => Promise<Receiver>): Promise<void> {
    const secret = `whsec_${randomBytes(32).toString('base64')}`;
    const receiver = await start(secret, await freePort());
    const statuses: number[] = [];
    const relay = await startReceiver(async (message) => {
      const status = await post(receiver.url, headersOf(message), message.body);
      statuses.push(status);
      return status;
    });
    let afterRotation: Receiver | undefined;
    const paths: string[] = [];
    try {
      for (const format of FORMATS) paths.push(await createWebhook({ url: relay.url, format, secret }));
      await changeRoles();
      await delivered(relay, paths, COUNTS.libraryDeliveries);
      assert.deepEqual([...new Set(statuses)], [204]);
      await rejected(receiver.url, relay.received.slice(-2), secret);

      const from = relay.received.length;
      const [first = ''] = paths;
      const renewed = (await atrium.as('ann')('PATCH', first, { secret: null })).body.secret;
      await changeRoles();
      await delivered(relay, paths, 2 * COUNTS.libraryDeliveries);
      assert.deepEqual([...new Set(statuses)], [204], 'who has the former secret still accepts');
      afterRotation = await start(renewed, await freePort());
      const isOfFirst = ({ headers }: ReceivedMessage) => signaturesIn(headers, 'v1,') === 2;
      const both = relay.received.slice(from).filter(isOfFirst);
      assert.equal(both.length, COUNTS.libraryDeliveries);
      for (const message of both) assert.equal(await post(afterRotation.url, headersOf(message), message.body), 204);
      await rejected(afterRotation.url, both.slice(-1), renewed);
    } finally {
      for (const path of paths) await atrium.as('ann')('DELETE', path);
      await relay.close();
      await receiver.stop();
      await afterRotation?.stop();
    }
  }

  async function createWebhook(body: object): Promise<string> {
    const made = await atrium.as('ann')('POST', '/orgs/acme/webhooks', { types: ['role.create'], ...body });
    assert.equal(made.status, 201, made.text);
    return `/orgs/acme/webhooks/${made.body.id}`;
  }

  async function changeRoles(): Promise<void> {
    for (let one = 0; one < COUNTS.libraryDeliveries; one += 1) {
      const body = { name: `heard-${randomBytes(6).toString('hex')}`, permissions: [] };
      const { status, text } = await atrium.as('ann')('POST', '/authz/roles?org=acme', body);
      assert.equal(status, 201, text);
    }
  }

  async function delivered({ received }: WebhookReceiver, paths: readonly string[], each: number): Promise<void> {
    await until(() => received.length >= paths.length * each);
    for (const path of paths) {
      const count = async (query: string) =>
        Number((await atrium.as('ann')('GET', `${path}/deliveries?${query}`)).headers.get('x-total-count'));
      await until(async () => (await count('state=pending')) === 0);
      assert.equal(await count('state=delivered'), each);
    }
  }
});

/** Nothing that differs from what was signed is accepted, and nothing that was signed long ago. */
async function rejected(url: string, messages: readonly ReceivedMessage[], secret: string): Promise<void> {
  assert.ok(messages.length > 0);
  for (const message of messages) {
    const [headers, { body }] = [headersOf(message), message];
    const id = headers['webhook-id'] ?? '';
    const seconds = Number(headers['webhook-timestamp']);
    const signatures = (headers['webhook-signature'] ?? '').split(' ');
    const asymmetric = signatures.filter((one) => one.startsWith('v1a,'));
    const shared = signatures.filter((one) => one.startsWith('v1,'));
    assert.equal(asymmetric.length, 1);
    const { 'webhook-signature': _signature, ...unsigned } = headers;
    const tampered: Record<string, readonly [Headers, string]> = {
      'another body': [headers, body.replace('"acme"', '"acne"')],
      'a longer body': [headers, `${body} `],
      'another ID': [{ ...headers, 'webhook-id': `${id}1` }, body],
      'a later time': [{ ...headers, 'webhook-timestamp': String(seconds + 1) }, body],
      'an earlier time': [{ ...headers, 'webhook-timestamp': String(seconds - 1) }, body],
      'no signature': [unsigned, body],
      'the public signature only': [{ ...headers, 'webhook-signature': asymmetric.join(' ') }, body],
      'other signatures': [{ ...headers, 'webhook-signature': shared.map(flipped).join(' ') }, body],
      'the signature of another secret': [signed(id, nowSeconds(), body, randomBytes(32)), body],
      'an old message': [signed(id, nowSeconds() - TOLERANCE_SECONDS - 5, body, bytesOf(secret)), body],
      'a message of the future': [signed(id, nowSeconds() + TOLERANCE_SECONDS + 5, body, bytesOf(secret)), body],
    };
    for (const [what, [changed, text]] of Object.entries(tampered)) {
      assert.notDeepEqual([changed, text], [headers, body], what);
      assert.equal(await post(url, changed, text), 400, what);
    }
    // The receiver would have accepted what was changed, if it had been signed so.
    assert.equal(await post(url, signed(id, nowSeconds(), body, bytesOf(secret)), body), 204);
  }
}

function signed(id: string, seconds: number, body: string, key: Buffer): Headers {
  const signature = createHmac('sha256', key).update(`${id}.${seconds}.${body}`).digest('base64');
  return { 'webhook-id': id, 'webhook-timestamp': String(seconds), 'webhook-signature': `v1,${signature}` };
}

/** With one bit changed. */
function flipped(signature: string): string {
  const bytes = Buffer.from(signature.slice('v1,'.length), 'base64');
  bytes[0] = (bytes[0] ?? 0) ^ 1;
  return `v1,${bytes.toString('base64')}`;
}

function nowSeconds(): number {
  return Math.floor(Date.now() / 1000);
}

function bytesOf(secret: string): Buffer {
  return Buffer.from(secret.replace('whsec_', ''), 'base64');
}

function signaturesIn(headers: ReceivedMessage['headers'], version: string): number {
  return String(headers['webhook-signature'])
    .split(' ')
    .filter((one) => one.startsWith(version)).length;
}

function headersOf({ headers }: ReceivedMessage): Headers {
  const names = ['content-type', 'webhook-id', 'webhook-timestamp', 'webhook-signature'];
  return Object.fromEntries(names.map((name) => [name, String(headers[name])]));
}

async function post(url: string, headers: Headers, body: string): Promise<number> {
  const response = await fetch(url, { method: 'POST', headers, body });
  await response.arrayBuffer();
  return response.status;
}

/** The only code of the guide in that language; what it listens on is replaced. */
function guideCode(language: string, [text, by]: readonly [string, string]): string {
  const [code, ...more] = [...GUIDE.matchAll(new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\``, 'gms'))].map(
    ([, found = '']) => found,
  );
  assert.ok(code !== undefined && more.length === 0, `the guide has one receiver for ${language}`);
  assert.equal(code.split(text).length, 2, `it has ${text} once`);
  return code.replace(text, by);
}

interface Starting {
  readonly place: string;
  readonly secret: string;
  readonly port: number;
}

async function started(program: string, args: readonly string[], { place, secret, port }: Starting): Promise<Receiver> {
  const env = { ...process.env, WEBHOOK_SECRET: secret };
  const child: ChildProcess = spawn(program, args, { cwd: place, env, stdio: ['ignore', 'ignore', 'pipe'] });
  let said = '';
  child.stderr?.on('data', (chunk) => {
    said = `${said}${chunk}`.slice(-4000);
  });
  const ended = once(child, 'exit');
  const url = `http://127.0.0.1:${port}/`;
  await until(async () => {
    if (child.exitCode !== null) throw new Error(`the receiver ended with ${child.exitCode}: ${said}`);
    return await post(url, {}, '{}').then(
      (status) => status === 400,
      () => false,
    );
  });
  return {
    url,
    async stop() {
      child.kill();
      await ended;
    },
  };
}
