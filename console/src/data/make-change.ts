import type { PlannedChangeInput } from '../../../client/api.gen.ts';
import { ApiError } from '../../../client/errors.ts';
import type { PlannedChange } from '../parts/impact.tsx';
import { api } from './api.ts';

/** Fields that are no part of a preview, because they give no user anything. */
interface Notes {
  readonly reason?: string | undefined;
}

/** What the server answered, if anything. */
type Made = { readonly id?: bigint } | undefined;
type RoleFields = NonNullable<PlannedChangeInput['role']>;

/** Makes a change that can be previewed, by the call that it stands for. */
export async function makeChange(org: string, change: PlannedChange, { reason }: Notes = {}): Promise<Made> {
  const { id = 0n, username = '', expires_at, role = {} } = change;
  const team = typeof change.team === 'bigint' || typeof change.team === 'number' ? change.team : 0n;
  const query = { org };
  switch (change.action) {
    case 'team.add_member':
      return await api.call('PUT /teams/{id}/members/{username}', { path: { id, username }, body: { expires_at } });
    case 'team.remove_member':
      return await api.call('DELETE /teams/{id}/members/{username}', { path: { id, username } });
    case 'team.update':
      return await api.call('PATCH /teams/{id}', {
        path: { id },
        body: typeof change.team === 'object' ? change.team : {},
      });
    case 'team.delete':
      return await api.call('DELETE /teams/{id}', { path: { id } });
    case 'role.assign':
      return await api.call('PUT /teams/{id}/roles/{role}', { path: { id: team, role: id }, body: { expires_at } });
    case 'role.unassign':
      return await api.call('DELETE /teams/{id}/roles/{role}', { path: { id: team, role: id } });
    case 'role.create':
      return await api.call('POST /authz/roles', { query, body: fieldsOf(role) });
    case 'role.update':
      return await api.call('PUT /authz/roles/{id}', { path: { id }, query, body: role });
    case 'role.delete':
      return await api.call('DELETE /authz/roles/{id}', { path: { id }, query });
    case 'assignment.create': {
      const { to = { type: '' }, on, namespaces } = change;
      return await api.call('POST /authz/assignments', {
        query,
        body: { role, to, on, namespaces, expires_at, reason },
      });
    }
    case 'assignment.update':
      return await api.call('PATCH /authz/assignments/{id}', { path: { id }, query, body: { expires_at, reason } });
    case 'assignment.delete':
      return await api.call('DELETE /authz/assignments/{id}', { path: { id }, query });
    case 'cluster.update':
      return await api.call('PATCH /clusters/{id}', { path: { id }, body: change.cluster ?? {} });
    default:
      throw new Error(`the console does not make the change ${change.action} by itself`);
  }
}

function fieldsOf({ name = '', description, permissions = [], teamIDs = [] }: RoleFields) {
  return { name, description, permissions, teamIDs };
}

/** Makes changes one after the other, and returns what takes them back. If one is rejected, those before it stay. */
export async function makeChanges(org: string, changes: readonly PlannedChange[]): Promise<() => Promise<void>> {
  const inverses: PlannedChange[] = [];
  for (const change of changes) inverses.unshift(...(await makeWithInverse(org, change)));
  return async () => {
    for (const inverse of inverses) await makeChange(org, inverse);
  };
}

async function makeWithInverse(org: string, change: PlannedChange): Promise<readonly PlannedChange[]> {
  const { action, id = 0n, username = '', team } = change;
  if (action === 'role.update') {
    const { permissions } = await api.call('GET /authz/roles/{id}', { path: { id }, query: { org } });
    await makeChange(org, change);
    return [{ action, id, role: { permissions } }];
  }
  if (action === 'team.add_member') {
    const inverse = await leaving(id, username);
    await makeChange(org, change);
    return [inverse];
  }
  const made = await makeChange(org, change);
  switch (action) {
    case 'role.assign':
      return [{ action: 'role.unassign', id, team }];
    case 'role.create':
      return [{ action: 'role.delete', id: made?.id }];
    case 'assignment.create':
      return [{ action: 'assignment.delete', id: made?.id }];
    default:
      throw new Error(`the console does not know what takes back the change ${action}`);
  }
}

/** What takes it back that a user is added to a team. A member who was there before stays, until the same end. */
export async function leaving(id: bigint | number, username: string): Promise<PlannedChange> {
  try {
    const { expires_at = null } = await api.call('GET /teams/{id}/members/{username}', { path: { id, username } });
    return { action: 'team.add_member', id, username, expires_at };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return { action: 'team.remove_member', id, username };
  }
}
