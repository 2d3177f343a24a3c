import assert from 'node:assert/strict';
import { auditOf, brokenLinks } from '../checks/audit.ts';
import { inSession, sessionOf } from '../server/browser-session.ts';
import type { Call, TestServer } from '../server/server.ts';

export const PASSWORD = 'correct horse battery';
let created = 0;

export const basic = (login: string, password: string) => ({
  Authorization: `Basic ${Buffer.from(`${login}:${password}`).toString('base64')}`,
});

/** The status of a call that shows whether a credential still works. */
export const status = async (call: Call) => (await call('GET', '/user')).status;

/** A new user, by default with a password, and the ways to prove who they are. */
export async function newUser(atrium: TestServer, password: string | null = PASSWORD) {
  const login = `user${++created}`;
  const user = { username: login, email: `${login}@example.com`, password };
  const made = await atrium.as('root')('POST', '/admin/users', user);
  assert.equal(made.status, 201, made.text);
  const id = BigInt(made.body.id);
  return { login, id, signIn, token, works };

  async function signIn(body: object = { username: login, password }, agent = 'test browser'): Promise<Call> {
    const answer = await atrium.as()('POST', '/user/signin', body, { 'User-Agent': agent });
    assert.equal(answer.status, 200, answer.text);
    return inSession(atrium, sessionOf(answer));
  }

  async function token(scopes: readonly string[] = ['all']): Promise<Call & { text: string }> {
    const name = crypto.randomUUID();
    const { text } = await atrium.instance.identity.tokens.issue({ accountId: id, name, scopes: [...scopes] });
    const call: Call = (method, path, body, headers) =>
      atrium.as()(method, path, body, { Authorization: `token ${text}`, ...headers });
    return Object.assign(call, { text });
  }

  /** Whether this is the password. */
  async function works(text: string): Promise<boolean> {
    return (await atrium.as()('GET', '/user', undefined, basic(login, text))).status === 200;
  }
}

/** The newest entry of a chain that is whole. */
export async function lastEntry(atrium: TestServer, organizationId: bigint) {
  const entries = await auditOf(atrium.instance.db, organizationId);
  assert.deepEqual(brokenLinks(entries), []);
  const entry = entries.at(-1) ?? assert.fail('no entry');
  const [was, is] = [entry.before, entry.after].map((text) => (text === null ? null : JSON.parse(text)));
  const object = `${entry.object_type}:${entry.object_id}`;
  return { action: entry.action, actor: entry.actor_name, object, was, is };
}
