import Type from 'typebox';
import { NamespaceQuery } from '../authz/places/namespace.view.ts';
import { callerIn, member } from '../http/admission/access.ts';
import type { Scope } from '../http/server.ts';
import { documentedSchema, Int64Input, named, OrgQuery, readIdNumber } from '../http/wire/schemas.ts';
import type { Checks } from './checks.ts';
import { GUARDED_TYPES } from './guardrail.ts';

const MAX_CHECKS = 1000;
const CheckedObject = named(
  'CheckedObject',
  Type.Object(
    {
      type: documentedSchema(Type.String({ description: 'Type of the object.' }), { enum: [...GUARDED_TYPES] }),
      id: Type.Optional(Type.Unsafe<number | bigint>({ ...Int64Input, description: 'ID of the object.' })),
      name: Type.Optional(Type.String({ description: 'Name of the object, instead of its ID.' })),
    },
    { description: 'An object of the organization. Without ID and name, the organization itself.' },
  ),
);
const Check = named(
  'AccessCheck',
  Type.Object(
    {
      user: Type.Optional(Type.String({ description: 'Login name; by default, the caller.' })),
      relation: Type.String({ description: 'A relation such as can_connect. The prefix can be left out.' }),
      object: CheckedObject,
      ...NamespaceQuery,
    },
    { description: 'A question: does the user hold the relation on the object?' },
  ),
);
const Body = named(
  'AccessChecks',
  Type.Object(
    { checks: Type.Array(Check, { maxItems: MAX_CHECKS, description: 'At most 1,000 questions.' }) },
    { description: 'Questions that are answered as of one moment.' },
  ),
);
const Result = named(
  'AccessCheckResult',
  Type.Object(
    {
      allowed: Type.Boolean({ description: 'Whether the user holds the relation.' }),
      fault: Type.Optional(
        Type.String({
          description: 'Why there is no answer: a name that does not exist, or that the caller may not see.',
        }),
      ),
    },
    { description: 'The answer to one question.' },
  ),
);
const Answers = named(
  'AccessCheckResults',
  Type.Object(
    { results: Type.Array(Result, { description: 'One for each question, in their order.' }) },
    { description: 'The answers, all as of one moment.' },
  ),
);

export function checkRoutes(scope: Scope, checks: Checks): void {
  scope.post(
    '/authz/check',
    {
      config: { access: member('authz', 'as users', { level: 'read' }), costly: 'ask fewer questions' },
      schema: {
        summary: 'Check many times whether a user may do something, all as of one moment',
        tags: ['authorization'],
        extension: true,
        querystring: OrgQuery,
        body: Body,
        response: { 200: Answers },
      },
    },
    async (request) => {
      const { organization, person } = callerIn(request);
      const inputs = request.body.checks.map(({ user, relation, namespace, object: { type, id, name } }) => ({
        user,
        relation,
        namespace,
        object: { type, name, id: id === undefined ? undefined : readIdNumber(id, 'object ID') },
      }));
      return { results: await checks(organization.id, { id: person.id, name: person.login }, inputs) };
    },
  );
}
