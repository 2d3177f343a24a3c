import assert from 'node:assert/strict';
import type { Call, TestServer } from '../server/server.ts';
import type { FakeIssuer } from '../services/token-issuer.ts';
import { callWith } from './robots.ts';

export const TYPE = 'urn:ietf:params:oauth:token-type:';
export const EXCHANGE = 'urn:ietf:params:oauth:grant-type:token-exchange';
export const BEARER = 'urn:ietf:params:oauth:grant-type:jwt-bearer';
export const ASSERTION = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';

export interface OAuthAnswer {
  readonly status: number;
  readonly headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: a test says what it expects of a body by asserting it.
  readonly body: any;
}

/** A form for `POST /oauth/token`, as it is sent. */
export async function postForm(
  atrium: Pick<TestServer, 'url'>,
  form: string | Record<string, string>,
  headers: Record<string, string> = {},
  path = '/oauth/token',
): Promise<OAuthAnswer> {
  const answer = await fetch(`${atrium.url}${path}`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/x-www-form-urlencoded', ...headers },
    body: typeof form === 'string' ? form : new URLSearchParams(form),
  });
  return { status: answer.status, headers: answer.headers, body: await answer.json() };
}

/** The parameters of a token exchange. */
export function exchangeForm(clientId: string, token: string, more: Record<string, string> = {}) {
  return {
    grant_type: EXCHANGE,
    client_id: clientId,
    subject_token: token,
    subject_token_type: `${TYPE}jwt`,
    ...more,
  };
}

export interface FederatedRobot {
  readonly id: number;
  readonly name: string;
  readonly clientId: string;
  readonly rules: string;
}

let made = 0;

/** A robot of acme without any token. */
export async function makeFederatedRobot(atrium: TestServer, roles: readonly object[] = []): Promise<FederatedRobot> {
  const name = `deploy${++made}`;
  const robot = await atrium.as('ann')('POST', '/orgs/acme/robots', { name });
  assert.equal(robot.status, 201, robot.text);
  const { id } = robot.body;
  for (const role of roles) {
    const body = { to: { type: 'robot_ac', id }, ...role };
    const assigned = await atrium.as('ann')('POST', '/authz/assignments?org=acme', body);
    assert.equal(assigned.status, 201, assigned.text);
  }
  return { id, name, clientId: `acme/${name}`, rules: `/robots/${id}/trust_rules` };
}

/** A rule for the issuer of the test, and its answer. */
export async function makeRule(atrium: TestServer, robot: FederatedRobot, issuer: FakeIssuer, more: object = {}) {
  const body = {
    name: `rule${++made}`,
    issuer: issuer.url,
    claims: { repository_id: '123' },
    scopes: ['all'],
    ...more,
  };
  const rule = await atrium.as('ann')('POST', robot.rules, body);
  assert.equal(rule.status, 201, rule.text);
  return rule.body;
}

/** A call with a token that is issued for a new one of the issuer. */
export async function federatedCall(atrium: TestServer, robot: FederatedRobot, issuer: FakeIssuer): Promise<Call> {
  const answer = await postForm(atrium, exchangeForm(robot.clientId, await issuer.token(atrium.url)));
  assert.equal(answer.status, 200, JSON.stringify(answer.body));
  return callWith(atrium, answer.body.access_token);
}
