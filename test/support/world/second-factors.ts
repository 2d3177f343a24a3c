import assert from 'node:assert/strict';
import { codeOf, stepAt } from '../../../src/factors/totp-code.ts';
import type { Answer, Call, TestServer } from '../server/server.ts';
import { type Algorithm, createAuthenticator } from '../services/authenticator.ts';
import { PASSWORD } from './own-account.ts';

/** A browser: keeps its cookies, and repeats the CSRF token of its session. */
export function createBrowser(atrium: TestServer) {
  const cookies = new Map<string, string>();
  const call: Call = async (method, path, body, headers) => {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const csrf = cookies.get('_csrf');
    const answer = await atrium.as()(method, path, body, {
      ...(cookie && { Cookie: cookie }),
      ...(csrf && method !== 'GET' && { 'X-Csrf-Token': csrf }),
      ...headers,
    });
    for (const line of answer.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      if (/Max-Age=0/.test(line)) cookies.delete(name);
      else cookies.set(name, value);
    }
    return answer;
  };
  return Object.assign(call, { cookies });
}

export type TestBrowser = ReturnType<typeof createBrowser>;

/** Signs in with the password; the answer says whether that is enough. */
export async function firstStep(
  atrium: TestServer,
  login: string,
  browser = createBrowser(atrium),
  password = PASSWORD,
) {
  const answer = await browser('POST', '/user/signin', { username: login, password });
  return { browser, answer };
}

/** An authenticator app, with a clock of its own. */
export function appWith(secret: string) {
  const bytes = fromBase32(secret);
  return {
    /** The code of now, or of so many steps from now. */
    code: (steps = 0, now = new Date()) => codeOf(bytes, stepAt(now) + steps),
    /** A code that is not right now, nor close to it. */
    wrong: (now = new Date()) => {
      const near = [-2, -1, 0, 1, 2].map((steps) => codeOf(bytes, stepAt(now) + steps));
      return ['000000', '111111', '222222', '333333', '444444', '555555'].find((code) => !near.includes(code)) ?? '';
    },
  };
}

/** Adds an authenticator app in a session. The step of its first code is used up. */
export async function addApp(browser: Call) {
  const proposed = ok(await browser('POST', '/user/factors/totp'));
  const app = appWith(proposed.secret);
  const { recovery_codes: codes } = ok(
    await browser('PUT', '/user/factors/totp', { enrollment: proposed.enrollment, code: app.code(-1) }),
  );
  return { app, codes: codes as string[] | undefined, proposed };
}

/** Adds a passkey in a session. */
export async function addPasskey(atrium: TestServer, browser: Call, name = 'laptop', algorithm: Algorithm = 'ES256') {
  const authenticator = createAuthenticator(originOf(atrium), algorithm);
  const { publicKey } = ok(await browser('POST', '/user/factors/passkeys/options'));
  const response = authenticator.create(publicKey);
  const added = await browser('POST', '/user/factors/passkeys', { name, response });
  assert.equal(added.status, 200, added.text);
  const { passkey, recovery_codes: codes } = added.body;
  return { authenticator, passkey, codes: codes as string[] | undefined };
}

/** What browsers call the server, because they have no passkeys for addresses. */
export function originOf({ url }: TestServer): string {
  return `http://localhost:${new URL(url).port}`;
}

export function ok(answer: Answer) {
  assert.equal(answer.status, 200, answer.text);
  return answer.body;
}

export const outcome = ({ status, body }: Answer) => [status, body?.reason];

function fromBase32(text: string): Buffer {
  const bits = [...text].map((letter) =>
    'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'.indexOf(letter).toString(2).padStart(5, '0'),
  );
  const bytes = bits.join('').match(/.{8}/g) ?? [];
  return Buffer.from(bytes.map((byte) => Number.parseInt(byte, 2)));
}
