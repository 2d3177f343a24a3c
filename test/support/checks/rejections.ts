import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { REASONS } from '../../../src/base/reasons.ts';
import { sendRaw } from '../server/raw.ts';
import { openTestServer, type TestServer } from '../server/server.ts';

/** One row of a table of bad requests: what is sent, and what the rejection must say. */
export interface Rejection {
  readonly name: string;
  readonly send: readonly (string | Buffer)[];
  readonly status: number;
  readonly message: string | RegExp;
  readonly allow?: string;
}

export type ErrorFormat = 'platform' | 'listener';
type Headers = Readonly<Record<string, string>>;

const HOST = 'Host: atrium.test\r\n';

/** A request in well-formed HTTP, with the right length for its body. */
export function http(
  method: string,
  target: string,
  headers: Headers = {},
  body?: string | Buffer,
): (string | Buffer)[] {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  const bytes = Buffer.from(body ?? '');
  const length = body === undefined ? '' : `Content-Length: ${bytes.length}\r\n`;
  return [
    Buffer.concat([
      Buffer.from(`${method} ${target} HTTP/1.1\r\n${HOST}${lines.join('')}${length}\r\n`, 'latin1'),
      bytes,
    ]),
  ];
}

export const row = (
  name: string,
  send: readonly (string | Buffer)[],
  status: number,
  message: string | RegExp,
  allow?: string,
): Rejection => ({ name, send, status, message, ...(allow !== undefined && { allow }) });

/** Sends every row of the table to one server, which must work as well afterwards as before. */
export function itRejects(title: string, format: ErrorFormat, rows: readonly Rejection[]): void {
  describe(title, () => {
    let atrium: TestServer;
    before(async () => {
      atrium = await openTestServer({ env: { DEPLOYMENT: format === 'listener' ? 'marketplace' : 'standard' } });
    });
    after(() => atrium.close());

    for (const { name, send, status, message, allow } of rows) {
      it(`${name} with ${status}`, async () => {
        const answer = await sendRaw(atrium.url, send);
        assert.equal(answer.status, status, answer.text);
        assert.equal(answer.headers.get('allow'), allow);
        assertVoice(atrium, format, status, answer.text, message);
        assert.match(answer.headers.get('x-request-id') ?? '', /^[\w.:-]+$/);
      });
    }

    it(`The server still works and has logged no error after the requests of "${title}"`, async () => {
      assert.equal((await atrium.as('ann')('GET', '/user')).status, 200);
      assert.doesNotMatch(atrium.logged(), /"level":"error"/);
    });
  });
}

function assertVoice(
  atrium: TestServer,
  format: ErrorFormat,
  status: number,
  text: string,
  message: string | RegExp,
): void {
  const body = JSON.parse(text);
  if (typeof message === 'string') assert.equal(body.message, message);
  else assert.match(body.message, message);
  if (format === 'listener') {
    assert.deepEqual(Object.keys(body), ['message']);
    return;
  }
  assert.equal(body.url, `${atrium.url}/api/v1/docs`);
  const always = ['message', 'url', 'reason'];
  const more = [...(body.reason === 'missing_relation' ? ['relation'] : []), ...(status === 422 ? ['errors'] : [])];
  assert.deepEqual(Object.keys(body), [...always, ...more]);
  assert.ok(Object.hasOwn(REASONS, body.reason), body.reason);
  if (status !== 422) return;
  assert.ok(body.errors.length > 0);
  for (const fault of body.errors) assert.deepEqual(Object.keys(fault), ['field', 'message']);
}
