import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { Answer, Call, TestServer } from '../server/server.ts';
import { addMember, createRobot, createTeam, makeOrganization, makePerson } from './people.ts';

/** Permissions as namespace and action, in one text: `cluster_mgmt connect to clusters`. */
export const pair = (text: string) => {
  const [namespace = '', ...action] = text.split(' ');
  return { namespace, action: action.join(' ') };
};

export type Place = Awaited<ReturnType<typeof openPlace>>;

/** An organization with an owner, a member who is only in the team `crew`, clusters, a robot, a contract and a role. */
export async function openPlace(atrium: TestServer) {
  const [owner, dan] = [await makePerson(atrium), await makePerson(atrium)];
  const org = await makeOrganization(atrium, owner.name);
  const call = atrium.as(owner.name);
  const crew = await createTeam(atrium.instance, { organizationId: org.id, name: 'crew', permission: 'none' });
  await addMember(atrium.instance, crew, dan.id);
  const robot = await createRobot(atrium.instance, org.id, 'deploy');
  const made = async (path: string, body: object): Promise<{ id: number; name: string }> => {
    const answer = await call('POST', path, body);
    assert.equal(answer.status, 201, answer.text);
    return answer.body;
  };
  const cluster = async (name: string, more: object = {}) =>
    await made(`/orgs/${org.name}/clusters`, { name, uid: randomUUID(), ...more });
  const role = async (name: string, ...permissions: string[]) =>
    await made(`/authz/roles?org=${org.name}`, { name, permissions: permissions.map(pair) });
  const [prod, staging] = [await cluster('prod', { clusterSetName: 'eu' }), await cluster('staging')];
  const operator = await role(
    'cluster-operator',
    'cluster_mgmt view clusters',
    'cluster_mgmt connect to clusters',
    'org_mgmt view members',
  );
  const path = `/authz/assignments?org=${org.name}`;
  const at = (id: number) => `/authz/assignments/${id}?org=${org.name}`;
  return {
    owner,
    dan,
    org,
    call,
    crew: Number(crew),
    robot: Number(robot),
    cluster,
    role,
    prod,
    staging,
    operator,
    path,
    at,
  };
}

export async function assign(
  { call, path }: Pick<Place, 'call' | 'path'>,
  role: number,
  to: object,
  on?: object,
  more: object = {},
): Promise<Answer['body']> {
  const answer = await call('POST', path, { role: { id: role }, to, ...(on && { on }), ...more });
  assert.equal(answer.status, 201, answer.text);
  return answer.body;
}

/** Asserts how a call is rejected. */
export async function rejected(
  call: Call,
  [method, path, body]: readonly [string, string, unknown?],
  status: number,
  reason: string,
): Promise<Answer['body']> {
  const answer = await call(method, path, body);
  assert.deepEqual([answer.status, answer.body?.reason], [status, reason], answer.text);
  return answer.body;
}

/** Lists of assignments that grow on sets of clusters: those of one user, or of an organization. */
export function assignmentList(limit: 'assignmentsPerOrganization' | 'assignmentsPerPrincipal') {
  const teams = ['Owners', 'Editors', 'Viewers'];
  let count = 0;
  return {
    limit,
    size: 'select count(*)::integer as n from assignment where organization_id = $1',
    prepare: async (atrium: TestServer) => {
      const { name: user } = await makePerson(atrium);
      const { name: org, id } = await makeOrganization(atrium, user);
      const permissions = [pair('cluster_mgmt view clusters')];
      const made = await atrium.as(user)('POST', `/authz/roles?org=${org}`, { name: 'viewer', permissions });
      assert.equal(made.status, 201, made.text);
      return { user, org, id, others: [] as string[] };
    },
    grow: (atrium: TestServer, { user, org }: { readonly user: string; readonly org: string }, name: string) => {
      const team = { type: 'team', name: teams[count++ % teams.length] };
      return atrium.as(user)('POST', `/authz/assignments?org=${org}`, {
        role: { name: 'viewer' },
        to: limit === 'assignmentsPerOrganization' ? team : { type: 'user', name: user },
        on: { type: 'cluster_set', name },
      });
    },
  };
}
