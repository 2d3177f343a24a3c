import type { FastifyReply, FastifyRequest } from 'fastify';
import Type, { type Static } from 'typebox';
import { PlaceResponse, presentPlace } from '../authz/places/place.view.ts';
import { writeListInSlices } from '../base/json.ts';
import { PRINCIPAL_TYPES } from '../changes/object-kinds.ts';
import { AtQuery, historianOf, readAt, showAsOf } from '../history/as-of.view.ts';
import { actorOf, callerIn, holds, member } from '../http/admission/access.ts';
import { type Scope, sendText } from '../http/server.ts';
import { createOnce } from '../http/wire/create-once.ts';
import { unchanged, versionEtag } from '../http/wire/etag.ts';
import {
  Int64,
  Int64Input,
  NoBody,
  named,
  OrgQuery,
  PathId,
  PermissionPair,
  readId,
  readIdNumber,
  Timestamp,
  timestamp,
} from '../http/wire/schemas.ts';
import { Expiry, presentExpiry } from '../organizations/expires-at.view.ts';
import { CATALOG } from './catalog.ts';
import type { PastRoles } from './past-roles.ts';
import { presentRole, RoleResponse } from './role.view.ts';
import type { RolePeople } from './role-people.ts';
import type { Role, RoleInput, Roles, Setting, ShownPrincipal } from './roles.ts';

const MAX_ITEMS = 1000;
const RoleId = Type.Object({ id: PathId });
const PastQuery = Type.Object({ ...OrgQuery.properties, ...AtQuery });

export const UpdateRole = named(
  'EditRole',
  Type.Object({
    name: Type.Optional(Type.String()),
    description: Type.Optional(Type.String()),
    permissions: Type.Optional(Type.Array(PermissionPair, { maxItems: MAX_ITEMS })),
    teamIDs: Type.Optional(Type.Array(Int64Input, { maxItems: MAX_ITEMS })),
  }),
);
const CreateRole = named(
  'NewRole',
  Type.Object({
    ...UpdateRole.properties,
    name: Type.String(),
    permissions: Type.Array(PermissionPair, { maxItems: MAX_ITEMS }),
  }),
);

const Available = named(
  'AvailablePermissions',
  Type.Object({
    permissions: Type.Array(
      named(
        'PermissionDetail',
        Type.Object({
          namespace: Type.String(),
          action: Type.String(),
          description: Type.String(),
          associated: Type.Optional(
            Type.Array(Type.Object({ namespace: Type.String(), action: Type.String(), required: Type.Boolean() })),
          ),
        }),
      ),
    ),
  }),
);

const PrincipalEntry = named(
  'RolePrincipal',
  Type.Object({
    type: Type.String({ enum: [...PRINCIPAL_TYPES] }),
    id: Int64,
    name: Type.String(),
    display_name: Type.String(),
    assigned_at: Timestamp,
    expires_at: Expiry,
    on: Type.Optional(PlaceResponse),
    namespaces: Type.Optional(
      Type.Array(Type.String(), { description: 'Only if it counts in these namespaces, and not in all of it.' }),
    ),
  }),
);

export function roleRoutes(scope: Scope, roles: Roles, rolePeople: RolePeople, pastRoles: PastRoles): void {
  const tags = ['authorization'];

  scope.get(
    '/authz/roles/available_permissions',
    {
      config: { access: member('authz', 'view_roles:org') },
      schema: {
        summary: 'List the permissions that a role can contain',
        tags,
        querystring: OrgQuery,
        response: { 200: Available },
      },
    },
    async () => ({ permissions: AVAILABLE }),
  );

  scope.get(
    '/authz/roles',
    {
      config: { access: member('authz', 'view_roles:org') },
      schema: {
        summary: 'List the custom roles of an organization',
        tags,
        querystring: PastQuery,
        response: { 200: Type.Array(RoleResponse) },
      },
    },
    async (request, reply) => {
      const { organization, person } = callerIn(request);
      const at = readAt(request.query.at);
      if (at) {
        const then = await pastRoles.list(historianOf(callerIn(request)), at);
        showAsOf(reply, at, then.since);
        return sendText(reply, await writeListInSlices(then.roles, (role) => presentRole(role)));
      }
      const found = await roles.list(organization.id);
      const people = await rolePeople(organization.id, person.id, found);
      return sendText(reply, await writeListInSlices(found, (role) => presentRole(role, people?.get(role.id))));
    },
  );

  scope.post(
    '/authz/roles',
    {
      config: { access: holds('create_role:org', 'authz'), creates: true },
      schema: {
        summary: 'Create a role',
        tags,
        querystring: OrgQuery,
        body: CreateRole,
        etag: true,
        response: { 201: RoleResponse },
      },
    },
    async (request, reply) =>
      await createOnce(
        request,
        reply.code(201),
        (once) => roles.create(settingOf(request), readInput(request.body), once),
        (role: Role) => show(reply, role),
      ),
  );

  scope.get(
    '/authz/roles/:id',
    {
      config: { access: holds('view:role', 'authz', { inPast: 'view_audit_log:org' }) },
      schema: {
        summary: 'Get a role',
        tags,
        params: RoleId,
        querystring: PastQuery,
        etag: true,
        response: { 200: RoleResponse },
      },
    },
    async (request, reply) => {
      const id = idOf(request.params);
      const at = readAt(request.query.at);
      if (!at) return show(reply, await roles.get(callerIn(request).organization.id, id));
      const { role, since } = await pastRoles.get(historianOf(callerIn(request)), at, id);
      showAsOf(reply, at, since);
      return presentRole(role);
    },
  );

  scope.put(
    '/authz/roles/:id',
    {
      config: { access: holds('edit:role', 'authz') },
      schema: {
        summary: 'Update a role; fields in the body replace the current values',
        tags,
        params: RoleId,
        querystring: OrgQuery,
        body: UpdateRole,
        etag: true,
        ifMatch: true,
        response: { 200: RoleResponse },
      },
    },
    async (request, reply) =>
      show(
        reply,
        await roles.update(settingOf(request), idOf(request.params), readInput(request.body), unchanged(request)),
      ),
  );

  scope.delete(
    '/authz/roles/:id',
    {
      config: { access: holds('delete:role', 'authz') },
      schema: {
        summary: 'Delete a role',
        tags,
        params: RoleId,
        querystring: OrgQuery,
        ifMatch: true,
        response: { 204: NoBody },
      },
    },
    async (request, reply) => {
      await roles.remove(settingOf(request), idOf(request.params), unchanged(request));
      return reply.code(204).send();
    },
  );

  scope.get(
    '/authz/roles/:id/principals',
    {
      config: { access: holds('viewer:role', 'authz') },
      schema: {
        summary: 'List the teams, users and robots that a role is assigned to, and on what',
        tags,
        params: RoleId,
        querystring: OrgQuery,
        response: { 200: Type.Array(PrincipalEntry) },
      },
    },
    async (request) => {
      const { organization, person } = callerIn(request);
      const found = await roles.principals(organization.id, person.id, idOf(request.params));
      return found.map(presentPrincipal);
    },
  );
}

const AVAILABLE = CATALOG.map(({ namespace, action, description, requires, alongside = [] }) => {
  const associated = [
    ...requires.map((other) => ({ namespace, action: other, required: true })),
    ...alongside.map((other) => ({ ...other, required: false })),
  ];
  return { namespace, action, description, ...(associated.length > 0 && { associated }) };
});

function idOf(params: Static<typeof RoleId>): bigint {
  return readId(params.id, 'role ID');
}

function settingOf(request: FastifyRequest): Setting {
  return { organizationId: callerIn(request).organization.id, actor: actorOf(request) };
}

export function readInput(body: Static<typeof UpdateRole>): RoleInput {
  return { ...body, teamIds: body.teamIDs?.map((id) => readIdNumber(id, 'team ID')) };
}

function show(reply: FastifyReply, role: Role) {
  reply.header('ETag', versionEtag(role));
  return presentRole(role);
}

function presentPrincipal({ type, id, name, on, isPlaceHidden, assignedAt, expiresAt }: ShownPrincipal) {
  const times = { assigned_at: timestamp(assignedAt), ...presentExpiry(expiresAt) };
  const place = on && { on: presentPlace(on, isPlaceHidden) };
  const within = on?.namespaces && { namespaces: [...on.namespaces] };
  return { type, id, name: name.toLowerCase(), display_name: name, ...times, ...place, ...within };
}
