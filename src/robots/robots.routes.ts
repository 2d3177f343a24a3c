import type { FastifyReply, FastifyRequest } from 'fastify';
import Type, { type Static } from 'typebox';
import type { ShownObjects } from '../authz/shown-objects.ts';
import { actorOf, callerIn, holdsIn, holdsOn, ownerIn } from '../http/admission/access.ts';
import type { Scope } from '../http/server.ts';
import { createOnce } from '../http/wire/create-once.ts';
import { showEtag, unchanged } from '../http/wire/etag.ts';
import { PageQuery, readPage, showPage } from '../http/wire/paging.ts';
import { Int64, NoBody, named, PathId, readId, Timestamp, timestamp } from '../http/wire/schemas.ts';
import type { Robot, Robots } from './robots.ts';

const RobotInfo = named(
  'Robot',
  Type.Object({
    id: Int64,
    owner_id: Int64,
    name: Type.String(),
    description: Type.String(),
    created_at: Timestamp,
  }),
);
const NewRobot = named('NewRobot', Type.Object({ name: Type.String(), description: Type.Optional(Type.String()) }));
const RobotId = Type.Object({ id: PathId });
const OrgPath = Type.Object({ org: Type.String() });

export function robotRoutes(scope: Scope, robots: Robots, shownObjects: ShownObjects, baseUrl: () => string): void {
  const common = { tags: ['robots'], extension: true };

  scope.get(
    '/orgs/:org/robots',
    {
      config: { access: holdsIn('view_robots:org', 'organization', { limited: 'filtered' }) },
      schema: {
        ...common,
        summary: 'List the robot accounts of an organization',
        params: OrgPath,
        querystring: Type.Object({ ...PageQuery, name: Type.Optional(Type.String()) }),
        response: { 200: Type.Array(RobotInfo) },
      },
    },
    async (request, reply) => {
      const page = readPage(request.query);
      const caller = callerIn(request);
      const { organization } = caller;
      const among = await shownObjects(caller, organization.id, 'robot_ac');
      const { total, items } = await robots.list(organization.id, request.query.name, page, among);
      showPage(request, reply, baseUrl(), page, total);
      return items.map(present);
    },
  );

  scope.post(
    '/orgs/:org/robots',
    {
      config: { access: holdsIn('create_robots:org', 'organization'), creates: true },
      schema: {
        ...common,
        summary: 'Create a robot account',
        params: OrgPath,
        body: NewRobot,
        etag: true,
        response: { 201: RobotInfo },
      },
    },
    async (request, reply) =>
      await createOnce(
        request,
        reply.code(201),
        (once) => robots.create(callerIn(request).organization.id, request.body, actorOf(request), once),
        (robot: Robot) => show(reply, robot),
      ),
  );

  scope.get(
    '/robots/:id',
    {
      config: { access: holdsOn('view:robot_ac', 'organization') },
      schema: { ...common, summary: 'Get a robot account', params: RobotId, etag: true, response: { 200: RobotInfo } },
    },
    async (request, reply) => show(reply, await robots.get(ownerIn(request), idOf(request))),
  );

  scope.patch(
    '/robots/:id',
    {
      config: { access: holdsOn('edit:robot_ac', 'organization') },
      schema: {
        ...common,
        summary: 'Update a robot account; omitted fields stay unchanged',
        params: RobotId,
        body: named('EditRobot', Type.Partial(NewRobot)),
        etag: true,
        ifMatch: true,
        response: { 200: RobotInfo },
      },
    },
    async (request, reply) => {
      const about = [ownerIn(request), idOf(request)] as const;
      return show(reply, await robots.update(...about, request.body, unchanged(request), actorOf(request)));
    },
  );

  scope.delete(
    '/robots/:id',
    {
      config: { access: holdsOn('delete:robot_ac', 'organization') },
      schema: {
        ...common,
        summary: 'Delete a robot account and revoke its tokens',
        params: RobotId,
        ifMatch: true,
        response: { 204: NoBody },
      },
    },
    async (request, reply) => {
      await robots.remove(ownerIn(request), idOf(request), unchanged(request), actorOf(request));
      return reply.code(204).send();
    },
  );
}

function idOf(request: FastifyRequest<{ Params: Static<typeof RobotId> }>): bigint {
  return readId(request.params.id, 'robot ID');
}

function show(reply: FastifyReply, robot: Robot) {
  showEtag(reply, robot);
  return present(robot);
}

function present({ id, ownerId, name, description, createdAt }: Robot) {
  return { id, owner_id: ownerId, name, description, created_at: timestamp(createdAt) };
}
