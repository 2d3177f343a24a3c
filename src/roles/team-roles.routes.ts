import type { FastifyRequest } from 'fastify';
import Type, { type Static } from 'typebox';
import { writeListInSlices } from '../base/json.ts';
import { actorOf, callerOf, holdsOn, ownerIn } from '../http/admission/access.ts';
import { type Scope, sendText } from '../http/server.ts';
import { dropAbsentExcept } from '../http/wire/absent-fields.ts';
import { unchanged } from '../http/wire/etag.ts';
import { documentedSchema, NoBody, named, PathId, readId } from '../http/wire/schemas.ts';
import { NewExpiry, readTerm } from '../organizations/expires-at.view.ts';
import { presentRole, RoleResponse } from './role.view.ts';
import type { RolePeople } from './role-people.ts';
import type { Gift, TeamRoles } from './team-roles.ts';

const RoleAssignment = named('RoleAssignment', Type.Object({ expires_at: NewExpiry }));
const TeamPath = Type.Object({ id: PathId });
const TeamRole = Type.Object({ id: PathId, role: documentedSchema(PathId, { description: 'ID of a custom role.' }) });

export function teamRoleRoutes(scope: Scope, teamRoles: TeamRoles, rolePeople: RolePeople): void {
  const tags = ['teams'];
  const config = { access: holdsOn('view:team', 'authz', { limited: 'whole' }) };

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
      const teamId = readId(request.params.id, 'team ID');
      const found = await teamRoles.list(ownerIn(request), teamId);
      const people = await rolePeople(ownerIn(request), callerOf(request).person.id, found);
      return sendText(reply, await writeListInSlices(found, (role) => presentRole(role, people?.get(role.id), teamId)));
    },
  );

  scope.put(
    '/teams/:id/roles/:role',
    {
      preValidation: dropAbsentExcept(['expires_at'], 'expires_at'),
      config,
      schema: {
        summary: 'Assign a role to a team, or change when the assignment ends; requires edit_roles:org',
        tags,
        extension: true,
        params: TeamRole,
        grows: true,
        ifMatch: true,
        optionalBody: true,
        body: RoleAssignment,
        response: { 204: NoBody },
      },
    },
    async (request, reply) => {
      const term = readTerm(request.body.expires_at, new Date());
      await teamRoles.give(giftOf(request), unchanged(request), actorOf(request), term);
      return reply.code(204).send();
    },
  );

  scope.delete(
    '/teams/:id/roles/:role',
    {
      config,
      schema: {
        summary: 'Remove a role from a team; requires edit_roles:org',
        tags,
        extension: true,
        params: TeamRole,
        ifMatch: true,
        response: { 204: NoBody },
      },
    },
    async (request, reply) => {
      await teamRoles.take(giftOf(request), unchanged(request), actorOf(request));
      return reply.code(204).send();
    },
  );
}

function giftOf(request: FastifyRequest & { readonly params: Static<typeof TeamRole> }): Gift {
  const { id, role } = request.params;
  return { organizationId: ownerIn(request), teamId: readId(id, 'team ID'), roleId: readId(role, 'role ID') };
}
