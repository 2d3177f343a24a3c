import type { FastifyRequest } from 'fastify';
import Type, { type Static } from 'typebox';
import { AppError, invalidField } from '../../base/errors.ts';
import { actorOf, callerIn, holdsIn } from '../../http/admission/access.ts';
import type { Scope } from '../../http/server.ts';
import { unchanged, versionEtag } from '../../http/wire/etag.ts';
import { Int64, Int64Input, named, readIdNumber } from '../../http/wire/schemas.ts';
import type { RequestRule } from './request-rule.ts';
import type { createRequestRules, RuleInput } from './request-rules.ts';

const says = (description: string) => ({ description });
const names = (description: string) => Type.Optional(Type.Array(Type.String(), { description }));
const match = <Id extends typeof Int64 | typeof Int64Input>(id: Id, isAnswer: boolean) => ({
  relations: names('Relations, such as can_connect.'),
  objects: Type.Optional(
    Type.Array(
      Type.Object(
        {
          type: Type.String(says('organization, cluster, contract, robot_ac or team.')),
          id: isAnswer ? id : Type.Optional(id),
          name: isAnswer ? Type.String(says('Its name.')) : Type.Optional(Type.String(says('Its name.'))),
        },
        says('An object.'),
      ),
      says('Objects. A request matches if it is about one of them, or about a cluster in one of the sets.'),
    ),
  ),
  cluster_sets: names('Names of sets of clusters.'),
});
const shared = {
  longest: Type.Optional(Type.String(says('The longest time, such as PT8H: P7D by default, at most P90D.'))),
  approvals: Type.Optional(
    Type.Integer(says('How many users must approve, 0 to 3. 0 approves by itself. By default 1.')),
  ),
  allow: Type.Optional(Type.Boolean(says('False forbids what matches. By default true.'))),
  break_glass: Type.Optional(
    Type.Boolean(says('Whether access can be taken without an approval, for at most an hour. By default false.')),
  ),
};
export const RuleBody = named(
  'NewRequestRule',
  Type.Object({
    name: Type.Optional(Type.String(says('Required and unique: the audit log names it.'))),
    match: Type.Optional(
      Type.Object(
        {
          ...match(Int64Input, false),
          roles: Type.Optional(Type.Array(Type.Unsafe<unknown>({}), says('Names of roles.'))),
          requesters: Type.Optional(
            Type.Unsafe<unknown>({ description: 'The name of the team that requesters are in.' }),
          ),
        },
        says('All parts that are given must hold. Empty: everything.'),
      ),
    ),
    ...shared,
    approvers: Type.Optional(
      Type.Unsafe<unknown>({
        description:
          'An object with the name of a team that approvers must be in: {"team": "leads"}. Or "manager": only the manager ' +
          'of the requester, as SCIM knows them. By default, all who could make the change.',
      }),
    ),
  }),
);
const RuleResponse = named(
  'RequestRule',
  Type.Object({
    name: Type.String(says('Its name.')),
    match: Type.Object(
      {
        ...match(Int64, true),
        roles: names('Names of roles.'),
        requesters: Type.Optional(Type.String(says('The team that requesters are in.'))),
      },
      says('All parts that are given must hold.'),
    ),
    longest: Type.String(says('The longest time.')),
    approvals: Type.Integer(says('How many users must approve.')),
    approvers: Type.Optional(
      Type.Union(
        [
          named('ApproverTeam', Type.Object({ team: Type.String(says('Its name.')) }, says('The members of a team.'))),
          Type.Literal('manager', says('The manager of the requester.')),
        ],
        says('Who may approve at all. Absent: all who could make the change.'),
      ),
    ),
    allow: Type.Boolean(says('Whether it can be asked for.')),
    break_glass: Type.Optional(Type.Boolean(says('Whether access can be taken without an approval.'))),
  }),
);

export function requestRuleRoutes(scope: Scope, rules: ReturnType<typeof createRequestRules>): void {
  const common = { tags: ['requests'], extension: true, strictQuery: true, etag: true };

  scope.get(
    '/orgs/:org/request_rules',
    {
      config: { access: holdsIn('view_roles:org', 'authz') },
      schema: {
        ...common,
        summary: 'List the rules for access requests, in the order in which they are tried',
        params: Type.Object({ org: Type.String() }),
        response: { 200: Type.Array(RuleResponse) },
      },
    },
    async (request, reply) => {
      const found = await rules.get(callerIn(request).organization.id);
      reply.header('ETag', versionEtag(found));
      return found.rules.map(presentRule);
    },
  );

  scope.put(
    '/orgs/:org/request_rules',
    {
      preValidation: requirePerson,
      config: { access: holdsIn('owner:org', 'authz') },
      schema: {
        ...common,
        summary: 'Replace the rules for access requests; for owners',
        params: Type.Object({ org: Type.String() }),
        body: Type.Array(RuleBody),
        ifMatch: true,
        response: { 200: Type.Array(RuleResponse) },
      },
    },
    async (request, reply) => {
      const { organization } = callerIn(request);
      request.body.forEach(requireKnownFields);
      const inputs = request.body.map(readRule);
      const saved = await rules.put(organization.id, actorOf(request), inputs, unchanged(request));
      reply.header('ETag', versionEtag(saved));
      return saved.rules.map(presentRule);
    },
  );
}

async function requirePerson(request: FastifyRequest): Promise<void> {
  if (callerIn(request).robot === undefined) return;
  throw new AppError('forbidden', 'robots do not change request rules', { reason: 'not_for_robots' });
}

/** A field that is misspelled must not become a rule about everything. */
function requireKnownFields(rule: Static<typeof RuleBody>, place: number): void {
  for (const [given, known, at] of [
    [rule, RuleBody.properties, `[${place}]`],
    [rule.match ?? {}, RuleBody.properties.match.properties, `[${place}].match`],
  ] as const) {
    const unknown = Object.keys(given).find((name) => !Object.hasOwn(known, name));
    if (unknown === undefined) continue;
    throw invalidField(at, `a request rule has no field ${JSON.stringify(unknown.slice(0, 60))} there`);
  }
}

export function readRule({ match: matched, break_glass: breakGlass, ...rule }: Static<typeof RuleBody>): RuleInput {
  const { objects, cluster_sets: clusterSets, ...rest } = matched ?? {};
  return {
    ...{ ...rule, breakGlass },
    match: {
      ...{ ...rest, clusterSets },
      objects: objects?.map(({ type, id, name }) => ({
        ...{ type: type === 'robot' ? 'robot_ac' : type, name },
        id: id === undefined ? undefined : readIdNumber(id, 'object ID'),
      })),
    },
  };
}

export function presentRule({ name, match: matched, longest, approvals, approvers, allow, breakGlass }: RequestRule) {
  const { relations, objects, clusterSets, roles, requesters } = matched;
  return {
    name,
    match: {
      ...(relations && { relations: [...relations] }),
      ...(objects && { objects: objects.map(({ type, id, name: called }) => ({ type, id, name: called })) }),
      ...(clusterSets && { cluster_sets: [...clusterSets] }),
      ...(roles && { roles: [...roles] }),
      ...(requesters !== undefined && { requesters }),
    },
    ...{ longest, approvals, allow },
    ...(approvers !== undefined && { approvers }),
    ...(breakGlass && { break_glass: true }),
  };
}
