import assert from 'node:assert/strict';
import type { Answer, TestServer } from '../server/server.ts';

export type ScimCall = (
  method: string,
  path: string,
  body?: unknown,
  headers?: Readonly<Record<string, string>>,
) => Promise<Answer>;

export const USER = 'urn:ietf:params:scim:schemas:core:2.0:User';
export const GROUP = 'urn:ietf:params:scim:schemas:core:2.0:Group';
export const ENTERPRISE = 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User';
const PATCH = 'urn:ietf:params:scim:api:messages:2.0:PatchOp';
const ERROR = 'urn:ietf:params:scim:api:messages:2.0:Error';

/** A robot of the organization with a token for SCIM, created by one of its owners. */
export async function newScimToken(
  atrium: TestServer,
  org: string,
  owner: string,
  name = 'directory',
): Promise<string> {
  const robot = await atrium.as(owner)('POST', `/orgs/${org}/robots`, { name });
  assert.equal(robot.status, 201, robot.text);
  const token = await atrium.as(owner)('POST', `/robots/${robot.body.id}/tokens`, { name: 'scim', scopes: ['scim'] });
  assert.equal(token.status, 201, token.text);
  return token.body.sha1;
}

/** Calls under /scim/v2 as an identity provider would send them. */
export function scimCaller(atrium: Pick<TestServer, 'call'>, token: string, base?: string): ScimCall {
  return async (method, path, body, headers) => {
    const type = body === undefined ? {} : { 'Content-Type': 'application/scim+json' };
    const all = { Authorization: `Bearer ${token}`, ...type, ...headers };
    const answer = await atrium.call(method, `/scim/v2${path}`, body, all, base);
    if (answer.text !== '') assert.match(answer.headers.get('content-type') ?? '', /^application\/scim\+json/);
    return answer;
  };
}

export function user(userName: string, further: object = {}) {
  return { schemas: [USER], userName, emails: [{ value: userName, type: 'work', primary: true }], ...further };
}

export function patch(...Operations: readonly object[]) {
  return { schemas: [PATCH], Operations };
}

export function assertScimError(answer: Answer, status: number, scimType: string | undefined, detail?: RegExp): void {
  assert.equal(answer.status, status, answer.text);
  assert.deepEqual(answer.body.schemas, [ERROR]);
  assert.equal(answer.body.status, String(status));
  assert.equal(answer.body.scimType, scimType, answer.text);
  if (detail) assert.match(answer.body.detail, detail);
}

/** What a list found, by one of its attributes. */
export async function found(call: ScimCall, path: string, attribute: string): Promise<unknown[]> {
  const answer = await call('GET', path);
  assert.equal(answer.status, 200, answer.text);
  return answer.body.Resources.map((one: Record<string, unknown>) => one[attribute]);
}
