import Type from 'typebox';
import { AppError } from '../../base/errors.ts';
import { OBJECT_TYPES } from '../../changes/object-kinds.ts';
import { principalOf } from '../../changes/principal.ts';
import { AtQuery, historianOf, readAt, showAsOf } from '../../history/as-of.view.ts';
import { callerIn, holds, signedIn } from '../../http/admission/access.ts';
import type { Scope } from '../../http/server.ts';
import { PageQuery, readPage, showPage } from '../../http/wire/paging.ts';
import { documentedSchema, Int64, named, OrgQuery } from '../../http/wire/schemas.ts';
import { readObjectType } from '../objects.ts';
import { NamespaceQuery } from '../places/namespace.view.ts';
import type { TimeMachine } from '../time-machine.ts';
import { type FindReach, outsideLimits } from '../token-reach.ts';
import { REASON_KINDS } from './all-paths.ts';
import { ASKED, askedIn, ObjectPath, ObjectTypeName, Relation } from './asked-object.view.ts';
import type { ExplainAt } from './explain.routes.ts';
import { MarkedUser } from './marked-user.view.ts';

const MAX_FURTHER = 10;
const Also = Type.Optional(
  Type.String({
    description: `Further relations, separated by commas, at most ${MAX_FURTHER}: each user in the response says which of them they hold too.`,
  }),
);
const NamedObject = named(
  'NamedObject',
  Type.Object({ type: Type.String({ enum: OBJECT_TYPES }), id: Int64, name: Type.String() }),
);
const Via = named(
  'PrincipalReason',
  Type.Object({
    kind: Type.String({
      enum: REASON_KINDS,
      description: 'A team, a custom role, that the user owns the object, or that they are a site administrator.',
    }),
    id: Type.Optional(
      documentedSchema(Int64, { description: 'Absent if the caller may not see it, and for site administrators.' }),
    ),
    name: Type.Optional(Type.String({ description: 'Absent if the caller may not see it.' })),
  }),
);
const Principal = named(
  'Principal',
  Type.Object({
    ...MarkedUser.properties,
    type: Type.String({ enum: ['user', 'robot_ac'] }),
    also: Type.Optional(
      Type.Array(Type.String(), {
        description: 'Which of the relations in ?also the user holds. Absent if the request has none.',
      }),
    ),
    via: Type.Optional(
      Type.Array(Via, { description: 'With ?reason=true: the teams and roles through which the user holds it.' }),
    ),
  }),
);

interface WhoCanParts {
  readonly explainAt: ExplainAt;
  readonly timeMachine: Pick<TimeMachine, 'changesSince'>;
  readonly reachOf: FindReach;
  readonly baseUrl: () => string;
}

/** Who holds a relation on an object, and on which objects a user holds one. */
export function whoCanRoutes(scope: Scope, { explainAt, timeMachine, reachOf, baseUrl }: WhoCanParts): void {
  const tags = ['authorization'];

  scope.get(
    '/authz/objects/:objectType',
    {
      config: {
        access: signedIn('authz', 'as users', { about: 'query', limited: 'filtered' }),
        costly: 'ask about a user who is in fewer teams, or about single objects',
      },
      schema: {
        summary: 'List the objects of a type on which a user holds a relation, as far as the caller may see them',
        tags,
        extension: true,
        params: Type.Object({ objectType: ObjectTypeName }),
        querystring: Type.Object({
          ...OrgQuery.properties,
          ...PageQuery,
          relation: Relation,
          user: Type.Optional(Type.String({ description: ASKED })),
        }),
        response: { 200: Type.Array(NamedObject) },
      },
    },
    async (request, reply) => {
      const type = readObjectType(request.params.objectType);
      const { relation, user } = request.query;
      const { person, organization, limits } = callerIn(request);
      const question = { organizationId: organization.id, callerId: person.id, type, relation, limits };
      const page = readPage(request.query);
      const { items, total } = await explainAt(undefined).whatCan(question, user, page);
      showPage(request, reply, baseUrl(), page, total);
      return items.map((one) => ({ type, ...one }));
    },
  );

  scope.get(
    '/authz/objects/:objectType/:objID/principals',
    {
      config: {
        access: holds('view_members:org', 'authz'),
        costly: 'ask without reason and also, or for a shorter page',
      },
      schema: {
        summary: 'List the users who hold a relation on an object, and after them the robots',
        tags,
        extension: true,
        params: ObjectPath,
        querystring: Type.Object({
          ...OrgQuery.properties,
          ...PageQuery,
          relation: Relation,
          also: Also,
          reason: Type.Optional(
            Type.Boolean({ description: 'Also return through what each user holds the relation.' }),
          ),
          ...NamespaceQuery,
          ...AtQuery,
        }),
        response: { 200: Type.Array(Principal) },
      },
    },
    async (request, reply) => {
      const object = askedIn(request.params, request.query.namespace);
      const { relation, also: further, reason } = request.query;
      const { person, organization, limits } = callerIn(request);
      const page = readPage(request.query);
      if ((await reachOf(limits, organization.id, object)) !== 'organization') {
        throw new AppError('forbidden', outsideLimits(object), { reason: 'token_limited' });
      }
      const question = { organizationId: organization.id, callerId: person.id, object, relation };
      const at = readAt(request.query.at);
      const { items, total } = await explainAt(at).whoCan(question, page, readFurther(further), reason);
      if (at) showAsOf(reply, at, await timeMachine.changesSince(historianOf(callerIn(request)), at));
      showPage(request, reply, baseUrl(), page, total);
      return items.map(({ also, via, id, ...one }) => ({
        ...principalOf(id),
        ...one,
        ...(also && { also: [...also] }),
        ...(via && { via: [...via] }),
      }));
    },
  );
}

function readFurther(text = ''): readonly string[] {
  const relations = [...new Set(text.split(',').filter((one) => one !== ''))];
  if (relations.length <= MAX_FURTHER) return relations;
  throw new AppError('invalid', `also must name at most ${MAX_FURTHER} relations`);
}
