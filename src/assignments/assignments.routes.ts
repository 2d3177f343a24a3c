import type { FastifyReply, FastifyRequest } from 'fastify';
import Type, { type Static } from 'typebox';
import { AppError } from '../base/errors.ts';
import { actorOf, callerIn, holds, member } from '../http/admission/access.ts';
import type { Scope } from '../http/server.ts';
import { dropAbsentExcept, dropAbsentWithin } from '../http/wire/absent-fields.ts';
import { createOnce } from '../http/wire/create-once.ts';
import { unchanged, versionEtag } from '../http/wire/etag.ts';
import { PageQuery, readPage, showPage } from '../http/wire/paging.ts';
import { NoBody, OrgQuery, PathId, readDateTime, readId, readIdNumber } from '../http/wire/schemas.ts';
import { reachesOrganization } from '../identity/tokens/token-limits.ts';
import { readTerm } from '../organizations/expires-at.view.ts';
import type { Assignment, AssignmentChange, AssignmentFilter, AssignmentInput } from './assignment.ts';
import {
  type AssignmentBody,
  AssignmentResponse,
  EditAssignment,
  NewAssignmentBody,
  presentAssignment,
} from './assignment.view.ts';
import { checkAssignmentInput, FILTERS, readFilter, readNameOrId, readReason } from './assignment-input.ts';
import type { Assignments, SeenAssignment, Setting } from './assignments.ts';

const AssignmentId = Type.Object({ id: PathId });
const ListQuery = Type.Object({
  ...OrgQuery.properties,
  role: Type.Optional(Type.String({ description: 'ID or name of a role.' })),
  to: Type.Optional(Type.String({ description: 'To whom, such as user:5, user:dan, team:operators or robot:deploy.' })),
  on: Type.Optional(
    Type.String({ description: 'On what, such as cluster:1, cluster:prod, cluster_set:eu or organization.' }),
  ),
  reaching: Type.Optional(
    Type.String({
      description:
        'Only what counts on this object, such as cluster:1 or cluster:prod: what is assigned on itself, on the ' +
        'cluster set that it is in, and on the organization, in this order.',
    }),
  ),
  expires_before: Type.Optional(Type.String({ description: 'Only what ends before this time.' })),
  ...PageQuery,
});

export function assignmentRoutes(scope: Scope, assignments: Assignments, baseUrl: () => string): void {
  const common = { tags: ['authorization'], extension: true, strictQuery: true };
  const seeing = { access: member('authz', 'as users', { limited: 'filtered' }) };

  scope.get(
    '/authz/assignments',
    {
      preValidation: rejectNarrowLimits,
      config: seeing,
      schema: {
        ...common,
        summary: 'List assignments: all for callers who can view roles, and otherwise those to the caller',
        querystring: ListQuery,
        response: { 200: Type.Array(AssignmentResponse) },
      },
    },
    async (request, reply) => {
      const { organization, person } = callerIn(request);
      const page = readPage(request.query);
      const found = await assignments.list(organization.id, person.id, readFilters(request.query), page);
      showPage(request, reply, baseUrl(), page, found.total);
      return found.items.map(presentAssignment);
    },
  );

  scope.post(
    '/authz/assignments',
    {
      preValidation: [rejectNarrowLimits, keepNulls, dropNullsInNamed],
      config: { access: holds('assign_roles:org', 'authz', { limited: 'filtered' }), creates: true },
      schema: {
        ...common,
        summary: 'Assign a role to a team, user or robot, on the organization or on one of its objects',
        querystring: OrgQuery,
        body: NewAssignmentBody,
        etag: true,
        response: { 201: AssignmentResponse },
      },
    },
    async (request, reply) => {
      const setting = settingOf(request);
      const input = readInput(request.body);
      return await createOnce(
        request,
        reply.code(201),
        (once) => assignments.create(setting, input, once),
        (assignment: Assignment) => show(reply, { assignment, seesPlace: true, seesCreator: true }),
      );
    },
  );

  scope.get(
    '/authz/assignments/:id',
    {
      preValidation: rejectNarrowLimits,
      config: seeing,
      schema: {
        ...common,
        summary: 'Get an assignment',
        params: AssignmentId,
        querystring: OrgQuery,
        etag: true,
        response: { 200: AssignmentResponse },
      },
    },
    async (request, reply) => {
      const { organization, person } = callerIn(request);
      return show(reply, await assignments.get(organization.id, person.id, idOf(request.params)));
    },
  );

  scope.patch(
    '/authz/assignments/:id',
    {
      // Before the body is looked at.
      preValidation: [rejectNarrowLimits, requireChange(assignments, 'update'), keepNulls, dropNullsInNamed],
      config: seeing,
      schema: {
        ...common,
        summary: 'Change when an assignment ends, or its reason; requires assign_roles:org',
        params: AssignmentId,
        querystring: OrgQuery,
        body: EditAssignment,
        optionalBody: true,
        etag: true,
        ifMatch: true,
        response: { 200: AssignmentResponse },
      },
    },
    async (request, reply) => {
      const change = readChange(request.body);
      return show(
        reply,
        await assignments.update(settingOf(request), idOf(request.params), change, unchanged(request)),
      );
    },
  );

  scope.delete(
    '/authz/assignments/:id',
    {
      preValidation: [rejectNarrowLimits, requireChange(assignments, 'remove')],
      config: seeing,
      schema: {
        ...common,
        summary: 'Remove an assignment; requires assign_roles:org, unless it is to the caller',
        params: AssignmentId,
        querystring: OrgQuery,
        ifMatch: true,
        response: { 204: NoBody },
      },
    },
    async (request, reply) => {
      await assignments.remove(settingOf(request), idOf(request.params), unchanged(request));
      return reply.code(204).send();
    },
  );
}

/** A null means something in these fields, or is an error: nothing may become the whole organization by accident. */
const keepNulls = dropAbsentExcept(['expires_at', 'on', 'role', 'to']);
const dropNullsInNamed = dropAbsentWithin('role', 'to', 'on');

/** Assignments tell about more than single objects. */
async function rejectNarrowLimits(request: FastifyRequest): Promise<void> {
  const { limits, organization } = callerIn(request);
  if (reachesOrganization(limits, organization.id)) return;
  const message = 'a token that is limited to single objects cannot see or change assignments';
  throw new AppError('forbidden', message, { reason: 'token_limited' });
}

function requireChange(assignments: Assignments, change: 'update' | 'remove') {
  return async (request: FastifyRequest): Promise<void> => {
    await assignments.requireChange(settingOf(request), idOf(request.params as Static<typeof AssignmentId>), change);
  };
}

function idOf(params: Static<typeof AssignmentId>): bigint {
  return readId(params.id, 'assignment ID');
}

function settingOf(request: FastifyRequest): Setting {
  return { organizationId: callerIn(request).organization.id, actor: actorOf(request) };
}

function readFilters(query: Static<typeof ListQuery>): AssignmentFilter {
  const { role, expires_before: before } = query;
  if (role === '') throw new AppError('invalid', 'role must be an ID or a name');
  return {
    role: role === undefined ? undefined : readNameOrId(role),
    to: readFilter('to', query.to, FILTERS.to),
    on: readFilter('on', query.on, FILTERS.on),
    reaching: readFilter('reaching', query.reaching, FILTERS.on),
    expiresBefore: before === undefined ? undefined : readDateTime('expires_before', before),
  };
}

interface Sent {
  readonly id?: number | bigint | null | undefined;
  readonly name?: string | undefined;
}

function referenceOf({ id, name }: Sent, what: string) {
  return { name, id: id === undefined || id === null ? undefined : readIdNumber(id, what) };
}

function readInput(body: Static<typeof NewAssignmentBody>): AssignmentInput {
  const { role, to } = body;
  return checkAssignmentInput({
    role: referenceOf(role, 'role ID'),
    to: { type: to.type, ...referenceOf(to, 'ID') },
    on: body.on && { type: body.on.type, ...referenceOf(body.on, 'ID') },
    namespaces: body.namespaces,
    reason: body.reason,
    expiresAt: readTerm(body.expires_at, new Date()) ?? null,
  });
}

function readChange({ role, to, on, namespaces, reason, expires_at }: AssignmentBody): AssignmentChange {
  return {
    role: role && referenceOf(role, 'role ID'),
    to: to && { type: to.type, ...referenceOf(to, 'ID') },
    on: on && { type: on.type, ...referenceOf(on, 'ID') },
    namespaces,
    reason: readReason(reason),
    expiresAt: readTerm(expires_at, new Date()),
  };
}

function show(reply: FastifyReply, seen: SeenAssignment) {
  reply.header('ETag', versionEtag(seen.assignment));
  return presentAssignment(seen);
}
