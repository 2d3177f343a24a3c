import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { sql } from '../../../src/db/db.ts';
import type { NewToken } from '../../../src/identity/tokens/token-issuer.ts';
import type { Answer, TestServer } from '../server/server.ts';

const HOUR_MS = 3_600_000;
const END = sql('test.endToken', 'update token set expires_at = clock_timestamp() where id = $1');

export const bearer = (text: string) => ({ Authorization: `Bearer ${text}` });
export const basic = (pair: string) => ({ Authorization: `Basic ${Buffer.from(pair).toString('base64')}` });

/** Calls about tokens, as users of the demo world and with tokens. */
export function tokenCalls(atrium: TestServer) {
  const tokenOf = (name: string) => atrium.world.users[name]?.token ?? '';
  /** A token instead of the password, because checking a password is slow by design. */
  const proof = (name: string) => basic(`${name}:${tokenOf(name)}`);
  const withToken = (text: string) => (method: string, path: string, body?: unknown) =>
    atrium.as()(method, path, body, bearer(text));
  return {
    proof,
    withToken,
    /** A new token, created over HTTP. */
    async make(name: string, body: object) {
      const made = await atrium.as()('POST', `/users/${name}/tokens`, body, proof(name));
      assert.equal(made.status, 201, made.text);
      return made.body;
    },
    create: (name: string, body: object, owner = name) =>
      atrium.as()('POST', `/users/${owner}/tokens`, body, proof(name)),
    rotate: (name: string, token: number | string, body: object = {}, owner = name) =>
      atrium.as()('POST', `/users/${owner}/tokens/${token}/rotate`, body, proof(name)),
    async list(name: string) {
      return (await atrium.as(name)('GET', `/users/${name}/tokens?limit=50`)).body as Answer['body'][];
    },
    /** A token that no request could have created. */
    async issue(name: string, token: Omit<NewToken, 'accountId'>) {
      return await atrium.instance.identity.tokens.issue({
        accountId: atrium.world.users[name]?.id ?? 0n,
        ...token,
      });
    },
  };
}

/**
 * The overlap of a token, of at most a day, is over. PostgreSQL has a clock of its own, so the row is changed behind the
 * back of every server. The built-in database must have the clock of the test (`hasOurClock`).
 */
export async function endOverlap(t: TestContext, { instance }: TestServer, id: number | bigint): Promise<void> {
  if (instance.db.driver === 'pglite') {
    t.mock.timers.enable({ apis: ['Date'], now: Date.now() + 24 * HOUR_MS + 1000 });
    return;
  }
  await instance.db.query(END, [BigInt(id)]);
}
