import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { parseSyntax } from '../../../packages/rebac/src/rebac.ts';
import { Oracle } from '../../../packages/rebac/test/oracle.ts';
import { createGraphStore } from '../../../src/authz/graphs.store.ts';
import { sql } from '../../../src/db/db.ts';
import { type Answer, type Call, openTestServer } from '../server/server.ts';
import { pair } from './assignments.ts';
import { addMember, createTeam, makeOrganization, makePerson } from './people.ts';
import { makeRobot } from './robots.ts';

/** Every permission that counts on a single object. */
export const SINGLE_PERMISSIONS = {
  cluster: [
    'cluster_mgmt view clusters',
    'cluster_mgmt reconfigure clusters',
    'cluster_mgmt connect to clusters',
    'cluster_mgmt view orchestrator configuration',
    'cluster_mgmt remove clusters',
  ],
  contract: ['contract_mgmt view contracts', 'contract_mgmt edit contracts', 'contract_mgmt delete contracts'],
  robot_ac: ['robot_mgmt view robot accounts', 'robot_mgmt edit robot accounts', 'robot_mgmt delete robot accounts'],
  team: ['org_mgmt view teams', 'org_mgmt edit teams', 'org_mgmt delete teams', 'org_mgmt manage team members'],
} as const;
export type SingleType = keyof typeof SINGLE_PERMISSIONS;
export const SINGLE_TYPES = Object.keys(SINGLE_PERMISSIONS) as SingleType[];

/** An object of the organization, with everything that would tell a caller of it. */
export interface Thing {
  readonly type: SingleType;
  readonly id: number;
  readonly name: string;
  readonly uid?: string;
}

export interface SingleCaller {
  readonly name: string;
  readonly token: string;
  /** A call of any path of the server. */
  readonly call: Call;
  readonly isRobot: boolean;
  /** As the model names the caller. */
  readonly subject: string;
  /** The only permission, and what it is on. */
  readonly permission?: string;
  readonly seen?: Thing;
  /** The team that makes a person a member. */
  readonly team?: Thing;
}

/** IDs of what the organization owns begin here. They cannot occur in an answer by chance. */
const FIRST_IDS = { team: 7_710_000, cluster: 7_720_000, contract: 7_730_000, robot: 7_740_000 };

/**
 * An organization with two objects of each type. Each caller holds one permission on the first one of a type, or
 * nothing at all.
 */
export async function openSingleObjects(options: Parameters<typeof openTestServer>[0] = {}) {
  const atrium = await openTestServer(options);
  const owner = await makePerson(atrium);
  await idsFrom(FIRST_IDS);
  const org = await makeOrganization(atrium, owner.name);
  const asOwner = atrium.as(owner.name);
  const made = async (path: string, body: object): Promise<{ id: number; name: string }> =>
    ok(await asOwner('POST', path, body)).body;
  const things: Thing[] = [];
  for (const name of ['hushone', 'hushtwo']) {
    const uid = randomUUID();
    const at = `/orgs/${org.name}`;
    const { id } = await made(`${at}/clusters`, { name: `${name}cluster`, uid, clusterSetName: `${name}set` });
    things.push({ type: 'cluster', id, name: `${name}cluster`, uid });
    const more = [
      ['contract', 'contracts', { product: `${name}product` }],
      ['robot_ac', 'robots', {}],
      ['team', 'teams', { permission: 'none' }],
    ] as const;
    for (const [type, list, fields] of more) {
      const title = `${name}${list.slice(0, -1)}`;
      const { id } = await made(`${at}/${list}`, { name: title, ...fields });
      things.push({ type, id, name: title });
    }
  }
  const firstOf = (type: SingleType) => things.find((one) => one.type === type) ?? assert.fail(type);
  const roles = new Map<string, number>();
  const role = async (permission: string): Promise<number> => {
    const body = { name: `may ${permission}`, permissions: [pair(permission)] };
    const id = roles.get(permission) ?? (await made(`/authz/roles?org=${org.name}`, body)).id;
    roles.set(permission, id);
    return id;
  };
  const assign = async (roleId: number, to: object, { type, id }: Thing) =>
    await made(`/authz/assignments?org=${org.name}`, { role: { id: roleId }, to, on: { type, id } });

  const callWith =
    (token: string): Call =>
    (method, path, body, headers) =>
      atrium.call(method, path, body, { Authorization: `token ${token}`, ...headers });

  return { atrium, org, asOwner, things, robot, person, heldBy, idsFrom };

  async function idsFrom(firsts: Readonly<Record<string, number>>): Promise<void> {
    for (const [table, first] of Object.entries(firsts)) {
      const text = `alter table ${table} alter column id restart with ${first}`;
      await atrium.instance.db.query(sql(`test.ids.${table}.${first}`, text));
    }
  }

  /** A robot account, with an assignment on the first object of the type or without any. */
  async function robot(name: string, type?: SingleType): Promise<SingleCaller> {
    const { id, text: token } = await makeRobot(atrium, name, { org: org.name, owner: owner.name });
    const call = callWith(token);
    if (type === undefined) return { name, token, call, isRobot: true, subject: `robot_ac:${id}` };
    const seen = firstOf(type);
    const permission = SINGLE_PERMISSIONS[type][0];
    await assign(await role(permission), { type: 'robot_ac', id }, seen);
    return { name, token, call, isRobot: true, subject: `robot_ac:${id}`, permission, seen };
  }

  /** A member whose team has no permission, with one permission on the first object of its type. */
  async function person(type: SingleType, permission: string): Promise<SingleCaller> {
    const { name, id } = await makePerson(atrium);
    const teamId = await createTeam(atrium.instance, {
      organizationId: org.id,
      name: `team of ${name}`,
      permission: 'none',
    });
    await addMember(atrium.instance, teamId, id);
    const seen = firstOf(type);
    await assign(await role(permission), { type: 'user', name }, seen);
    const team: Thing = { type: 'team', id: Number(teamId), name: `team of ${name}` };
    const token = atrium.world.users[name]?.token ?? '';
    const call = callWith(token);
    return {
      name: `${name} with ${permission}`,
      token,
      call,
      isRobot: false,
      subject: `user:${id}`,
      permission,
      seen,
      team,
    };
  }

  /** What a caller holds by the model, as the reference evaluator finds it: `cluster:5#can_view`. */
  async function heldBy({ subject }: SingleCaller): Promise<ReadonlySet<string>> {
    const model = await parseSyntax(readFileSync('src/authz/platform.fga', 'utf8'));
    const { tuples } = await createGraphStore(atrium.instance.db).load(org.id);
    return new Oracle(model, [...tuples], subject, [], () => 'yes').granted;
  }
}

export type SingleObjects = Awaited<ReturnType<typeof openSingleObjects>>;

export function ok(answer: Answer): Answer {
  assert.ok(answer.status >= 200 && answer.status < 300, `${answer.status}: ${answer.text}`);
  return answer;
}
