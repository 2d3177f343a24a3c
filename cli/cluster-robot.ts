import type { Answer } from '../client/client.ts';
import { rejected } from './failure.ts';
import { all, type Named } from './names.ts';
import type { Session } from './session.ts';

const REVIEW = { namespace: 'cluster_mgmt', action: 'review requests' } as const;
const ROLE = 'cluster-reviewer';
const OVERLAP_HOURS = 1;

type Role = Answer<'GET /authz/roles'>[number];

/** What a robot works for in a cluster: its API server, or its agent, which reports about the cluster, too. */
const WORK = {
  kube: { about: (name: string) => `Asks for the API server of ${name}`, scopes: ['read:authz'] },
  agent: { about: (name: string) => `Works in ${name}`, scopes: ['read:authz', 'write:organization'] },
} as const;

/**
 * A token of the robot that works for the API server or for the agent of one cluster. The robot holds *review requests* on the cluster, and
 * its token is limited to it. If there is a token already, it is rotated, and works for an hour more.
 */
export async function tokenOfClusterRobot(session: Session, cluster: Named, kind: keyof typeof WORK): Promise<string> {
  const [client, org] = [session.client(), session.org()];
  const name = `${kind}-${cluster.name}`;
  const { about, scopes } = WORK[kind];
  const found = await client.call('GET /orgs/{org}/robots', { path: { org }, query: { name } });
  const body = { name, description: about(cluster.name) };
  const robot = found[0] ?? (await client.call('POST /orgs/{org}/robots', { path: { org }, body }));
  await assignReview(session, robot.id, cluster);
  const path = { id: robot.id };
  const tokens = await all(client.each('GET /robots/{id}/tokens', { path }));
  const present = tokens.find((one) => one.name === cluster.name && one.replaced_by === undefined);
  if (present) {
    const made = await client.call('POST /robots/{id}/tokens/{token}/rotate', {
      path: { ...path, token: String(present.id) },
      body: { overlap_hours: OVERLAP_HOURS },
    });
    return made.sha1 ?? '';
  }
  const made = await client.call('POST /robots/{id}/tokens', {
    path,
    body: { name: cluster.name, scopes: [...scopes], limits: { objects: [{ type: 'cluster', id: cluster.id }] } },
  });
  return made.sha1 ?? '';
}

async function assignReview(session: Session, robotId: bigint, cluster: Named): Promise<void> {
  const [client, org] = [session.client(), session.org()];
  const to = { type: 'robot_ac', id: robotId };
  const on = { type: 'cluster', id: cluster.id };
  const query = { org, to: `robot_ac:${robotId}`, on: `cluster:${cluster.id}` };
  const present = await all(client.each('GET /authz/assignments', { query }));
  const holds = present.some(({ effective }) => effective.some(({ action }) => action === REVIEW.action));
  if (holds) return;
  const role = { id: (await reviewerRole(session)).id };
  await client.call('POST /authz/assignments', { query: { org }, body: { role, to, on } });
}

/** A role that contains nothing else. It is created if there is none, which needs *create roles*. */
async function reviewerRole(session: Session): Promise<Pick<Role, 'id'>> {
  const query = { org: session.org() };
  const roles = await session.client().call('GET /authz/roles', { query });
  const isIt = ({ permissions }: Role) => permissions.length === 1 && permissions[0]?.action === REVIEW.action;
  const found = roles.find(isIt);
  if (found) return found;
  if (roles.some(({ name }) => name === ROLE)) {
    throw rejected(`the role ${ROLE} must contain "${REVIEW.action}" and nothing else: change or rename it`);
  }
  const body = { name: ROLE, description: 'For robots that review requests of clusters.', permissions: [REVIEW] };
  return await session.client().call('POST /authz/roles', { query, body });
}
