import assert from 'node:assert/strict';
import { once } from 'node:events';
import { after, before, describe, it } from 'node:test';
import { Worker } from 'node:worker_threads';
import { COUNTS } from '../counts.ts';
import { progress } from '../support/checks/progress.ts';
import { createRandom } from '../support/checks/random.ts';
import { openTestServer, type TestServer } from '../support/server/server.ts';
import { type SmtpServer, startSmtp } from '../support/services/smtp.ts';
import { openHost } from '../support/world/invitations.ts';
import { makePerson } from '../support/world/people.ts';
import type { TimedAnswer, TimedRequest } from './timed-fetch.ts';

/** Of each kind. Every known address is that of another account, because one address gets few emails. */
const SAMPLES = Math.floor(COUNTS.timingSamples / 2);
/** Far from what a busy machine does to a median, and far from what an email before the answer does. */
const MARGIN = 1.2;
const DOMAIN = 'example.com';

type Request = (address: string, place: number) => TimedRequest;

describe('The time of an answer does not tell whether an address has an account', () => {
  let atrium: TestServer;
  let smtp: SmtpServer;
  let client: Worker;
  before(async () => {
    smtp = await startSmtp();
    const registration = { REGISTRATION: 'domains', REGISTRATION_DOMAINS: DOMAIN };
    const env = { SMTP_URL: smtp.url, TRUSTED_PROXIES: '127.0.0.1', RATE_LIMIT: '0', ...registration };
    atrium = await openTestServer({ env });
    client = new Worker(new URL('timed-fetch.ts', import.meta.url));
  });
  after(async () => {
    await client.terminate();
    await atrium.close();
    await smtp.close();
  });

  const ask = async (request: TimedRequest): Promise<TimedAnswer> => {
    client.postMessage(request);
    const [answer] = await once(client, 'message');
    return answer as TimedAnswer;
  };
  /** Each request comes from a network of its own, which has not asked before. */
  const publicly =
    (path: string): Request =>
    (email, place) => {
      const network = `10.${place >> 16}.${(place >> 8) & 255}.${place & 255}`;
      return { url: `${atrium.url}/api/v1${path}`, headers: { 'X-Forwarded-For': network }, body: { email } };
    };

  it('An email for a forgotten password is answered in the same time', async () => {
    await assertSteady(atrium, 'forgot', publicly('/user/password/forgot'), 202);
    assert.ok(smtp.letters.length >= SAMPLES, 'the known addresses got an email');
  });

  it('A sign-up is answered in the same time', async () => {
    await assertSteady(atrium, 'sign-up', publicly('/user/signup'), 202);
  });

  it('An invitation is answered in the same time, and with the same answer', async () => {
    const quiet = await openTestServer({ env: { RATE_LIMIT: '0' } });
    try {
      const { owner, path, viewers } = await openHost(quiet);
      const headers = { Authorization: `token ${quiet.world.users[owner.name]?.token}` };
      const url = `${quiet.url}/api/v1${path}`;
      const invite: Request = (email) => ({ url, headers, body: { email, team_ids: [viewers] } });
      await assertSteady(quiet, 'invitation', invite, 201);
    } finally {
      await quiet.close();
    }
  });

  /** Asks about known and unknown addresses in a random order, so that neither follows the work of the other. */
  async function assertSteady(server: TestServer, what: string, request: Request, status: number): Promise<void> {
    const random = createRandom();
    const known: string[] = [];
    for (let count = 0; count < SAMPLES; count++) known.push(`${(await makePerson(server)).name}@${DOMAIN}`);
    // As long as the others.
    const unknown = known.map((address) => address.replace('person', 'nobody'));
    const kinds = [known, unknown].flatMap((addresses, kind) => addresses.map((address) => ({ address, kind })));
    const keyed = kinds.map((one) => ({ ...one, key: random.below(2 ** 30) }));
    const times: number[][] = [[], []];
    const shapes = new Set<string>();
    for (let count = 0; count < 20; count++) await ask(request(`warm${count}-${what}@${DOMAIN}`, (count + 1) << 16));
    for (const [place, { address, kind }] of keyed.toSorted((one, other) => one.key - other.key).entries()) {
      const answer = await ask(request(address, place));
      assert.equal(answer.status, status, answer.text);
      times[kind]?.push(answer.ms);
      shapes.add(answer.text === '' ? '' : Object.keys(JSON.parse(answer.text)).join());
      await server.instance.features.background.settled();
    }
    const [has = 0, hasNot = 1] = times.map((list) => list.sort((a, b) => a - b)[list.length >> 1] ?? 0);
    progress(`${what}: ${has.toFixed(2)} ms with an account, ${hasNot.toFixed(2)} ms without`);
    assert.equal(shapes.size, 1, 'every answer has the same parts');
    const ratio = has / hasNot;
    assert.ok(ratio < MARGIN && ratio > 1 / MARGIN, `the ratio is ${ratio.toFixed(2)}`);
  }
});
