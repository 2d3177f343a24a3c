import assert from 'node:assert/strict';
import { OBJECT_KINDS, type PluralOf, RESOURCE_TYPES, type ResourceType } from '../../../src/changes/object-kinds.ts';
import type { Answer, TestServer } from '../server/server.ts';
import { addMember, createTeam } from './people.ts';

export interface Pair {
  readonly namespace: string;
  readonly action: string;
}

export const orgPermission = (action: string): Pair => ({ namespace: 'org_mgmt', action });
export const clusterPermission = (action: string): Pair => ({ namespace: 'cluster_mgmt', action });

/** The IDs of the demo world as they appear in a body. */
export function numbersOf({ world }: TestServer) {
  return {
    user: (name: string) => number(world.users[name]?.id, name),
    org: (name: string) => number(world.orgs[name]?.id, name),
    team: (name: string, org = 'acme') => number(world.orgs[org]?.teams[name], name),
    role: (name: string, org = 'acme') => number(world.orgs[org]?.roles[name], name),
    ...(Object.fromEntries(
      RESOURCE_TYPES.map((type) => [
        OBJECT_KINDS[type].word,
        (name: string) => number(resourcesOf(world, type).get(name), name),
      ]),
    ) as Record<(typeof OBJECT_KINDS)[ResourceType]['word'], (name: string) => number>),
  };
}

/** The resources of a type in the demo world. Its first one belongs to acme. */
export function resourcesOf(world: TestServer['world'], type: ResourceType): Map<string, bigint> {
  const found: Readonly<Record<string, bigint | { readonly id: bigint }>> = world[OBJECT_KINDS[type].plural];
  return new Map(Object.entries(found).map(([name, one]) => [name, typeof one === 'object' ? one.id : one]));
}

/** The ID of the first resource of each type, by the plural of the type. */
export function resourceIds(world: TestServer['world']): Record<PluralOf<ResourceType>, string> {
  const ids = RESOURCE_TYPES.map((type) => [
    OBJECT_KINDS[type].plural,
    String([...resourcesOf(world, type).values()][0]),
  ]);
  return Object.fromEntries(ids) as Record<PluralOf<ResourceType>, string>;
}

function number(id: bigint | undefined, name: string): number {
  if (id === undefined) throw new Error(`nothing is called ${name}`);
  return Number(id);
}

/** What the server says that a user may do with an object. */
export async function allowedTo(
  atrium: TestServer,
  who: string,
  type: string,
  id: number | bigint,
  org = 'acme',
): Promise<string[]> {
  const answer = await atrium.as(who)('GET', `/authz/objects/${type}/${id}/allowed-permissions?org=${org}`);
  assert.equal(answer.status, 200, answer.text);
  assert.ok(answer.text.startsWith(`{"objectType":"${type}","objectID":${id},"allowedPermissions":[`), answer.text);
  return answer.body.allowedPermissions;
}

let made = 0;

/** A role of acme that ann creates, with a unique name. */
export async function makeRole(atrium: TestServer, role: object = {}, org = 'acme', who = 'ann'): Promise<Answer> {
  const body = { name: `role ${++made} of ${process.pid}`, permissions: [], ...role };
  const answer = await atrium.as(who)('POST', `/authz/roles?org=${org}`, body);
  assert.equal(answer.status, 201, answer.text);
  return answer;
}

/** A new user in acme, whose only team has a role with just these permissions. */
export async function makeHolder(
  { instance, world, as }: TestServer,
  permissions: readonly Pair[],
  org = 'acme',
  owner = org === 'acme' ? 'ann' : 'eve',
) {
  const name = `holder${++made}`;
  const id = await instance.features.users.create({ name, email: `${name}@example.com` });
  const { text } = await instance.identity.tokens.issue({ accountId: id, name: 'test', scopes: ['all'] });
  world.users[name] = { id, token: text };
  const organizationId = world.orgs[org]?.id ?? 0n;
  const teamId = await createTeam(instance, { organizationId, name: `team of ${name}`, permission: 'none' });
  await addMember(instance, teamId, id);
  const body = { name: `role of ${name}`, permissions, teamIDs: [Number(teamId)] };
  const role = await as(owner)('POST', `/authz/roles?org=${org}`, body);
  assert.equal(role.status, 201, role.text);
  return { name, id, teamId: Number(teamId), roleId: role.body.id as number };
}

/** One row of a table of rejections: who sends what, and what the answer must be. */
export interface Rejected {
  readonly who?: string | undefined;
  readonly send: readonly [method: string, path: string, body?: unknown, headers?: Record<string, string>];
  readonly status: number;
  readonly message: string | RegExp;
}

export async function assertRejected(atrium: TestServer, { who, send, status, message }: Rejected): Promise<void> {
  const answer = await atrium.as(who)(...send);
  assert.equal(answer.status, status, answer.text);
  if (typeof message === 'string') assert.equal(answer.body.message, message);
  else assert.match(answer.body.message, message);
  assert.equal(answer.body.url, `${atrium.url}/api/v1/docs`);
}
