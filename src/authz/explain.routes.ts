import Type from 'typebox';
import { callerIn, holds, signedIn } from '../http/access.ts';
import { PageQuery, readPage, showPage } from '../http/paging.ts';
import { Int64, OrgQuery, readId } from '../http/schemas.ts';
import type { Scope } from '../http/server.ts';
import type { Explain } from './explain.ts';
import { readObjectType } from './objects.ts';

const ObjectPath = Type.Object({ objectType: Type.String(), objID: Type.String() });
const Relation = Type.String({ description: 'One of the permissions that the object can have, such as can_view.' });
const Person = Type.Object({ id: Int64, name: Type.String() });
const Step = Type.Object({
  depth: Type.Integer(),
  object: Type.String(),
  relation: Type.String(),
  text: Type.String(),
});

const Explanation = Type.Object({
  objectType: Type.String(),
  objectID: Int64,
  relation: Type.String(),
  userID: Int64,
  allowed: Type.Boolean(),
  steps: Type.Array(Step, { description: 'From the object to the user; each rests on the deeper ones after it.' }),
  missing: Type.Array(Type.String(), {
    description: 'What would have to be so for the answer to be yes; empty for an object that the caller may not see.',
  }),
});

export function explainRoutes(scope: Scope, insight: Explain, baseUrl: () => string): void {
  const tags = ['authorization'];

  scope.get(
    '/authz/objects/:objectType/:objID/explain',
    {
      config: { access: signedIn('authz', { about: 'query' }) },
      schema: {
        summary: 'Why somebody holds a relation on an object, or what is missing',
        tags,
        extension: true,
        params: ObjectPath,
        querystring: Type.Object({
          ...OrgQuery.properties,
          relation: Relation,
          user: Type.Optional(Type.String({ description: 'Whom to ask about; the caller unless said.' })),
        }),
        response: { 200: Explanation },
      },
    },
    async (request) => {
      const { person, organization } = callerIn(request);
      const object = { type: readObjectType(request.params.objectType), id: readId(request.params.objID, 'object ID') };
      const { relation, user } = request.query;
      const question = { organizationId: organization.id, askerId: person.id, object, relation };
      const { personId, ...why } = await insight.why(question, user);
      return {
        objectType: object.type,
        objectID: object.id,
        relation,
        userID: personId,
        ...why,
        steps: [...why.steps],
        missing: [...why.missing],
      };
    },
  );

  scope.get(
    '/authz/objects/:objectType/:objID/principals',
    {
      config: { access: holds('view_members:org', 'authz') },
      schema: {
        summary: 'Who holds a relation on an object',
        tags,
        extension: true,
        params: ObjectPath,
        querystring: Type.Object({ ...OrgQuery.properties, ...PageQuery, relation: Relation }),
        response: { 200: Type.Array(Type.Object({ type: Type.String(), ...Person.properties })) },
      },
    },
    async (request, reply) => {
      const object = { type: readObjectType(request.params.objectType), id: readId(request.params.objID, 'object ID') };
      const { relation } = request.query;
      const { person, organization } = callerIn(request);
      const found = await insight.whoCan({ organizationId: organization.id, askerId: person.id, object, relation });
      const page = readPage(request.query);
      showPage(request, reply, baseUrl(), page, found.length);
      return found.slice(page.offset, page.offset + page.limit).map((one) => ({ type: 'user', ...one }));
    },
  );
}
