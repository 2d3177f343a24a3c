import assert from 'node:assert/strict';
import type { Call, TestServer } from '../server/server.ts';

export interface TestRobot {
  readonly id: number;
  readonly tokenId: number;
  readonly text: string;
  /** A call under /api/v1 with the robot's token. */
  readonly call: Call;
}

/** A robot with a token of these scopes, which an owner of its organization creates. */
export async function makeRobot(
  atrium: TestServer,
  name: string,
  {
    org = 'acme',
    owner = 'ann',
    scopes = ['all'],
    ...more
  }: Record<string, unknown> & { org?: string; owner?: string } = {},
): Promise<TestRobot> {
  const robot = await atrium.as(owner)('POST', `/orgs/${org}/robots`, { name });
  assert.equal(robot.status, 201, robot.text);
  const token = await atrium.as(owner)('POST', `/robots/${robot.body.id}/tokens`, { name: 'key', scopes, ...more });
  assert.equal(token.status, 201, token.text);
  const { sha1: text, id: tokenId } = token.body;
  return { id: robot.body.id, tokenId, text, call: callWith(atrium, text) };
}

/** A call under /api/v1 with this token. */
export function callWith(atrium: TestServer, text: string): Call {
  return (method, path, body, headers, base) =>
    atrium.as()(method, path, body, { Authorization: `token ${text}`, ...headers }, base);
}
