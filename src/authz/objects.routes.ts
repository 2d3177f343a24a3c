import Type from 'typebox';
import { callerIn, signedIn } from '../http/access.ts';
import { Int64, Int64Input, OrgQuery, readId, readIdNumber } from '../http/schemas.ts';
import type { Scope } from '../http/server.ts';
import type { ObjectRef } from './judge.ts';
import { type Objects, readObjectType } from './objects.ts';

const MOST_OBJECTS = 1000;

const Allowed = Type.Object({
  objectType: Type.String(),
  objectID: Int64,
  allowedPermissions: Type.Array(Type.String()),
});

export function objectRoutes(scope: Scope, objects: Objects): void {
  scope.get(
    '/authz/objects/:objectType/:objID/allowed-permissions',
    {
      config: { access: signedIn('authz', { about: 'query', queryToken: true }) },
      schema: {
        summary: 'The permissions that the caller holds on one object',
        tags: ['authorization'],
        params: Type.Object({ objectType: Type.String(), objID: Type.String() }),
        querystring: OrgQuery,
        response: { 200: Allowed },
      },
    },
    async (request) => {
      const { person, organization } = callerIn(request);
      const object = { type: readObjectType(request.params.objectType), id: readId(request.params.objID, 'object ID') };
      const [found = []] = await objects.allowed({ personId: person.id, organizationId: organization.id }, [object]);
      return { objectType: object.type, objectID: object.id, allowedPermissions: found };
    },
  );

  scope.post(
    '/authz/objects/allowed-permissions',
    {
      config: { access: signedIn('authz', { about: 'query', level: 'read' }) },
      schema: {
        summary: 'The permissions that the caller holds on many objects, at one moment',
        tags: ['authorization'],
        querystring: OrgQuery,
        body: Type.Array(Type.Object({ objectType: Type.String(), objectID: Int64Input }), { maxItems: MOST_OBJECTS }),
        response: { 200: Type.Array(Allowed) },
      },
    },
    async (request, reply) => {
      const { person, organization } = callerIn(request);
      const asked = request.body.map(({ objectType, objectID }) => ({
        type: readObjectType(objectType),
        id: readIdNumber(objectID, 'object ID'),
      }));
      const found = await objects.allowed({ personId: person.id, organizationId: organization.id }, asked);
      const answers = asked.map((object, place) => write(object, found[place] ?? []));
      return reply
        .type('application/json; charset=utf-8')
        .serializer(asIs)
        .send(`[${answers.join()}]` as never);
    },
  );
}

/** A thousand answers are put together here: the general serializer looks at every letter of names that are our own. */
function write({ type, id }: ObjectRef, relations: readonly string[]): string {
  const list = relations.length === 0 ? '' : `"${relations.join('","')}"`;
  return `{"objectType":"${type}","objectID":${id},"allowedPermissions":[${list}]}`;
}

function asIs(text: unknown): string {
  return text as string;
}
