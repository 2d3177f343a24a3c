import type { FastifyReply, FastifyRequest } from 'fastify';
import Type from 'typebox';
import { OBJECT_TYPES } from '../changes/object-kinds.ts';
import { callerIn, signedIn } from '../http/admission/access.ts';
import { type Scope, sendText } from '../http/server.ts';
import { Int64, Int64Input, named, OrgQuery, PathId, readId, readIdNumber, shownAs } from '../http/wire/schemas.ts';
import type { Soon } from './judge.ts';
import type { ObjectRef } from './object-ref.ts';
import { type CallerRef, type Objects, readObjectType } from './objects.ts';
import { NamespaceQuery } from './places/namespace.view.ts';
import { readNamespace } from './places/namespaces.ts';
import { ANY_RELATION, type NoteUse } from './uses/access-uses.ts';

const ObjectTypeName = shownAs(Type.String(), { type: 'string', enum: OBJECT_TYPES });
const MAX_OBJECTS = 1000;

export const ObjectPermissions = named(
  'ObjectPermissions',
  Type.Object({
    objectType: Type.String({ enum: OBJECT_TYPES }),
    objectID: Int64,
    allowedPermissions: Type.Array(Type.String()),
  }),
);

const ObjectReference = named(
  'ObjectReference',
  Type.Object({ objectType: Type.String(), objectID: Int64Input, ...NamespaceQuery }),
);

export function objectRoutes(scope: Scope, objects: Objects, noteUse: NoteUse): void {
  scope.get(
    '/authz/objects/:objectType/:objID/allowed-permissions',
    {
      config: {
        access: signedIn('authz', 'as users', { about: 'query', queryToken: true, limited: 'filtered' }),
        atHand(request, reply) {
          const { caller, object } = questionOf(request as ObjectRequest);
          const relations = objects.atHand(caller, object);
          return relations && answer(reply, caller, object, relations);
        },
      },
      schema: {
        summary: 'List the permissions that the caller holds on an object',
        tags: ['authorization'],
        params: Type.Object({ objectType: ObjectTypeName, objID: PathId }),
        querystring: Type.Object({ ...OrgQuery.properties, ...NamespaceQuery }),
        response: { 200: ObjectPermissions },
      },
    },
    (request, reply) => {
      const { caller, object } = questionOf(request);
      const found = objects.allowed(caller, [object]);
      return whenKnown(found, ([relations = []]) => answer(reply, caller, object, relations));
    },
  );

  function answer(reply: FastifyReply, caller: CallerRef, object: ObjectRef, relations: readonly string[]) {
    // Programs ask this before they let the caller do something.
    if (relations.length > 0) noteUse(caller.personId, caller.organizationId, ANY_RELATION, object.type, object.id);
    return sendText(reply, write(object, relations));
  }

  scope.post(
    '/authz/objects/allowed-permissions',
    {
      config: {
        access: signedIn('authz', 'as users', { about: 'query', level: 'read', limited: 'filtered' }),
        costly: 'ask about fewer objects',
      },
      schema: {
        summary: 'List the permissions that the caller holds on many objects, all as of one moment',
        tags: ['authorization'],
        querystring: OrgQuery,
        body: Type.Array(ObjectReference, { maxItems: MAX_OBJECTS }),
        response: { 200: Type.Array(ObjectPermissions) },
      },
    },
    (request, reply) => {
      const { person, organization, limits } = callerIn(request);
      const asked = request.body.map(({ objectType, objectID, namespace }) =>
        readNamespace({ type: readObjectType(objectType), id: readIdNumber(objectID, 'object ID') }, namespace),
      );
      const found = objects.allowed({ personId: person.id, organizationId: organization.id, limits }, asked);
      return whenKnown(found, (relations) =>
        sendText(reply, `[${asked.map((object, place) => write(object, relations[place] ?? [])).join()}]`),
      );
    },
  );
}

/** A request about one object. */
type ObjectRequest = FastifyRequest<{
  Params: { readonly objectType: string; readonly objID: string };
  Querystring: { readonly namespace?: string };
}>;

function questionOf(request: Pick<ObjectRequest, 'params' | 'query'> & FastifyRequest) {
  const { person, organization, limits } = callerIn(request);
  const { objectType, objID } = request.params;
  const object: ObjectRef = { type: readObjectType(objectType), id: readId(objID, 'object ID') };
  const caller: CallerRef = { personId: person.id, organizationId: organization.id, limits };
  return { caller, object: readNamespace(object, request.query.namespace) };
}

/** Without a promise if there is nothing to wait for: a console makes these calls by the thousand. */
function whenKnown<T>(value: Soon<T>, answer: (value: T) => unknown): Promise<void> | undefined {
  // The promise ends with the response, or Fastify would send another one.
  if (value instanceof Promise) return value.then(async (known) => void (await answer(known)));
  answer(value);
}

/** The engine's answers with the same relations are often one and the same list; so is its text. */
const texts = new WeakMap<readonly string[], string>();

/** A response may contain a thousand answers. The general serializer would scan every character of our own names. */
function write({ type, id }: ObjectRef, relations: readonly string[]): string {
  let list = texts.get(relations);
  if (list === undefined) {
    list = relations.length === 0 ? '[]}' : `["${relations.join('","')}"]}`;
    texts.set(relations, list);
  }
  return `{"objectType":"${type}","objectID":${id},"allowedPermissions":${list}`;
}
