import Type from 'typebox';
import { writeListInSlices } from '../base/json.ts';
import { actorOf, callerOf, holdsOn, ownerIn } from '../http/access.ts';
import { unchanged } from '../http/etag.ts';
import { documented, NoBody, PathId, readId } from '../http/schemas.ts';
import { type Scope, sendText } from '../http/server.ts';
import { presentRole, RoleResponse } from './role.view.ts';
import type { RolePeople } from './role-people.ts';
import type { TeamRoles } from './team-roles.ts';

const TeamPath = Type.Object({ id: PathId });
const TeamRole = Type.Object({ id: PathId, role: documented(PathId, { description: 'ID of a custom role.' }) });

export function teamRoleRoutes(scope: Scope, teamRoles: TeamRoles, rolePeople: RolePeople): void {
  const tags = ['administration'];
  const config = { access: holdsOn('view:team', 'authz') };

  scope.get(
    '/teams/:id/roles',
    {
      config,
      schema: {
        summary: 'List the custom roles of a team',
        tags,
        extension: true,
        params: TeamPath,
        response: { 200: Type.Array(RoleResponse) },
      },
    },
    async (request, reply) => {
      const found = await teamRoles.list(ownerIn(request), readId(request.params.id, 'team ID'));
      const people = await rolePeople(ownerIn(request), callerOf(request).person.id, found);
      sendText(reply, await writeListInSlices(found, (role) => presentRole(role, people?.get(role.id))));
      return reply;
    },
  );

  for (const [method, verb, summary] of [
    ['PUT', 'give', 'Assign a role to a team; requires edit_roles:org'],
    ['DELETE', 'take', 'Remove a role from a team; requires edit_roles:org'],
  ] as const) {
    scope.route({
      method,
      url: '/teams/:id/roles/:role',
      config,
      schema: {
        summary,
        tags,
        extension: true,
        params: TeamRole,
        grows: method === 'PUT',
        ifMatch: true,
        response: { 204: NoBody },
      },
      handler: async (request, reply) => {
        const teamId = readId(request.params.id, 'team ID');
        const gift = { organizationId: ownerIn(request), teamId, roleId: readId(request.params.role, 'role ID') };
        await teamRoles[verb](gift, unchanged(request), actorOf(request));
        return reply.code(204).send();
      },
    });
  }
}
