import Type, { type Static } from 'typebox';
import { AppError } from '../../base/errors.ts';
import { OBJECT_TYPES } from '../../changes/object-kinds.ts';
import { isRobotPrincipal, principalOf } from '../../changes/principal.ts';
import { AtQuery, ChangedSince, historianOf, presentSince, readAt, showAsOf } from '../../history/as-of.view.ts';
import { callerIn, holds, signedIn } from '../../http/admission/access.ts';
import type { Scope } from '../../http/server.ts';
import { PageQuery, readPage, showPage } from '../../http/wire/paging.ts';
import { documentedSchema, Int64, named, OrgQuery, PathId, readId, shownAs } from '../../http/wire/schemas.ts';
import { namesThemselves } from '../asked-principal.ts';
import type { AskedObject } from '../object-ref.ts';
import { readObjectType } from '../objects.ts';
import { NamespaceQuery } from '../places/namespace.view.ts';
import { readNamespace } from '../places/namespaces.ts';
import type { TimeMachine } from '../time-machine.ts';
import { type FindReach, outsideLimits } from '../token-reach.ts';
import type { NoteUse } from '../uses/access-uses.ts';
import { REASON_KINDS } from './all-paths.ts';
import type { Explain, ExplainedStep, Question } from './explain.ts';
import { MarkedUser } from './marked-user.view.ts';
import { NamedRelationship, presentNamed, Relationship } from './relationship.view.ts';
import { type Advice, forbiddenBy } from './remedy.ts';
import { ForbiddingGuardrail, presentRemedy, RemedyResponse } from './remedy.view.ts';

const ObjectTypeName = shownAs(Type.String(), { type: 'string', enum: OBJECT_TYPES });
const ObjectPath = Type.Object({ objectType: ObjectTypeName, objID: PathId });
const Relation = Type.String({ description: 'A relation that can be held on the object, such as can_view.' });
const ASKED = 'Login name of the user, or a robot of the organization such as robot:deploy. By default, the caller.';
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
const Step = named(
  'ExplanationStep',
  Type.Object({
    depth: Type.Integer(),
    object: Type.String(),
    relation: Type.String(),
    rule: Type.String({
      enum: ['self', 'direct', 'everyone', 'userset', 'parent', 'computed', 'and', 'but not'],
      description: 'Which kind of rule the step applies.',
    }),
    subject: Type.String({ description: 'What the step follows from, such as user:2 or team:4#member, or empty.' }),
    text: Type.String({ description: 'The step as a sentence.' }),
    name: Type.String({ description: 'The name of the object, or its type and ID if the caller may not know it.' }),
    subject_name: Type.String({ description: 'The name of the subject without its relation, or empty.' }),
    tuple: Type.Union([Relationship, Type.Null()], {
      description: 'The stored relationship that the step rests on. Null if it applies a rule of the model.',
    }),
  }),
);
const Obstacle = named(
  'ExcludingRelation',
  Type.Object({ object: Type.String(), relation: Type.String(), name: Type.String() }),
);

const Explanation = named(
  'Explanation',
  Type.Object({
    objectType: Type.String({ enum: OBJECT_TYPES }),
    objectID: Int64,
    namespace: Type.Optional(Type.String({ description: 'Only if the question is about one: the namespace.' })),
    relation: Type.String(),
    userID: Int64,
    userType: Type.Optional(
      Type.String({
        enum: ['robot_ac'],
        description: 'Only if the answer is about a robot: then userID is that of the robot.',
      }),
    ),
    allowed: Type.Boolean(),
    found: Type.Optional(
      Type.Boolean({
        description:
          'False if the object does not exist or the caller may not see it. Which of the two is not told, and the answer is no.',
      }),
    ),
    token_limit: Type.Optional(
      Type.Boolean({
        description:
          'Present if the limits of the token shape the answer: then it is no for what is outside, and has no steps.',
      }),
    ),
    sentence: Type.String({
      description: 'The whole answer as one sentence. With ?remedies=true, a no names the least remedy.',
    }),
    requestable: Type.Optional(
      named(
        'Requestable',
        Type.Object(
          {
            longest: Type.String({ description: 'For how long at most, such as P7D.' }),
            approvals: Type.Integer({ description: 'How many users must approve.' }),
            approvers: Type.Integer({ description: 'How many users could approve it for that long.' }),
          },
          { description: 'How the caller could ask for it (POST /authz/requests). Absent if they cannot.' },
        ),
      ),
    ),
    forbidden_by: Type.Optional(
      Type.Array(ForbiddingGuardrail, {
        description:
          'On a no: enforced guardrails that say that this user can never do this. Absent if there are none, or if the ' +
          'caller may not view roles.',
      }),
    ),
    steps: Type.Array(Step, {
      description: 'From the object to the user. Each step rests on the deeper ones after it.',
    }),
    missing: Type.Array(Type.String(), {
      description: 'What would have to change for the answer to be yes. Empty if the caller may not see the object.',
    }),
    needs: Type.Array(NamedRelationship, {
      description: 'Relationships that would have to be added: missing, for programs.',
    }),
    excluded_by: Type.Array(Obstacle, { description: 'Relations that exclude the user and would have to end.' }),
    trail: Type.Array(NamedRelationship, {
      description: 'Relationships on the way to the missing ones that exist already.',
    }),
    paths: Type.Optional(
      Type.Array(Type.Array(Step), {
        description:
          'With ?paths=all: every way to a yes, each like steps, at most 10. Every relationship in a path is needed, and ' +
          'the answer is no once each path has lost one. Paths that differ only in what the caller may not see are one.',
      }),
    ),
    more: Type.Optional(Type.Boolean({ description: 'With ?paths=all: whether there are more paths than these.' })),
    remedies: Type.Optional(
      Type.Array(RemedyResponse, {
        description:
          'With ?remedies=true: ways to get from no to yes, at most 10, ordered by how little else they grant and then by ' +
          'how few people get something. Only teams and roles that the caller may see are considered.',
      }),
    ),
    remedies_note: Type.Optional(
      Type.String({ description: 'With ?remedies=true: why there are no remedies or only these, or empty.' }),
    ),
    at: Type.Optional(
      Type.String({ format: 'date-time', description: 'Only with ?at: the moment that the answer is about.' }),
    ),
    allowed_now: Type.Optional(Type.Boolean({ description: 'Only with ?at: the answer as of now.' })),
    changed_since: Type.Optional(ChangedSince),
  }),
);

/** As of a past moment, or now. */
type ExplainAt = (at: Date | undefined) => Explain;

interface ExplainParts extends Advice {
  readonly explainAt: ExplainAt;
  readonly timeMachine: Pick<TimeMachine, 'changesSince'>;
  readonly reachOf: FindReach;
  readonly noteUse: NoteUse;
  readonly baseUrl: () => string;
}

export function explainRoutes(scope: Scope, parts: ExplainParts): void {
  const { explainAt, timeMachine, remedies, requestable, forbidding, reachOf, noteUse, baseUrl } = parts;
  const tags = ['authorization'];

  scope.get(
    '/authz/objects/:objectType/:objID/explain',
    {
      config: {
        access: signedIn('authz', 'as users', { about: 'query', limited: 'filtered' }),
        costly: 'ask without paths and remedies, or about the present',
      },
      schema: {
        summary: 'Explain why a user holds a relation on an object, or what is missing',
        tags,
        extension: true,
        params: ObjectPath,
        querystring: Type.Object({
          ...OrgQuery.properties,
          relation: Relation,
          user: Type.Optional(Type.String({ description: ASKED })),
          paths: Type.Optional(
            Type.String({ enum: ['all'], description: 'Also return every way to a yes, not only the first.' }),
          ),
          remedies: Type.Optional(Type.Boolean({ description: 'Also return ways to get from no to yes.' })),
          ...NamespaceQuery,
          ...AtQuery,
        }),
        response: { 200: Explanation },
      },
    },
    async (request, reply) => {
      const { person, organization, limits } = callerIn(request);
      const object = askedIn(request.params, request.query.namespace);
      const { relation, user, paths: which, remedies: wantsRemedies } = request.query;
      const question = { organizationId: organization.id, callerId: person.id, object, relation };
      const at = readAt(request.query.at);
      const reach = await reachOf(limits, organization.id, object);
      if (reach !== 'organization') {
        const isSelf = user === undefined || namesThemselves(callerIn(request), user);
        if (!isSelf || at) throw new AppError('forbidden', outsideLimits(object), { reason: 'token_limited' });
        const isAllowed = reach === 'object' && (await explainAt(undefined).explain(question, undefined)).allowed;
        return { ...presentLimited(question, isAllowed), ...(reach === 'nothing' && { found: false }) };
      }
      const found = await explainAt(at).explain(question, user, which === 'all');
      const { personId, allowed, steps, missing, parts, standing, allowedNow } = found;
      // A robot asks before it lets a user do something; a person who asks about another one is only curious.
      const isUse = allowed && at === undefined && (personId === person.id || isRobotPrincipal(person.id));
      if (isUse) noteUse(personId, organization.id, relation, object.type, object.id);
      const since = at && (await timeMachine.changesSince(historianOf(callerIn(request)), at));
      if (at) showAsOf(reply, at, since);
      // Nobody can change the past, and guardrails are about changes.
      const isNo = !allowed && at === undefined;
      const about = { ...question, userId: personId, standing };
      const searched = isNo && wantsRemedies ? await remedies(about) : undefined;
      const forbidden = isNo && standing === 'seen' ? await forbidding(about) : [];
      const isForbidden = forbidden.length > 0 && !searched?.sentence;
      const couldAsk = isNo && personId === person.id ? await requestable(question) : undefined;
      return {
        ...shownObject(object),
        relation,
        ...askedOf(personId),
        allowed,
        found: found.isFound,
        // The nearest link that is missing is often the membership that grants the most.
        sentence: [searched?.sentence ?? found.sentence, ...(isForbidden ? forbidden.map(forbiddenBy) : [])].join('; '),
        ...(forbidden.length > 0 && { forbidden_by: [...forbidden] }),
        ...(couldAsk && { requestable: couldAsk }),
        steps: steps.map(presentStep),
        missing: [...missing],
        needs: parts.needs.map(presentNamed),
        excluded_by: [...parts.excludedBy],
        trail: parts.trail.map(presentNamed),
        ...(which === 'all' && { paths: found.paths.map((path) => path.map(presentStep)), more: found.hasMorePaths }),
        ...(wantsRemedies && {
          remedies: (searched?.remedies ?? []).map(presentRemedy),
          remedies_note: searched?.note ?? (at ? NOT_PAST : ''),
        }),
        ...(at && {
          at: at.toISOString(),
          allowed_now: allowedNow ?? false,
          ...(since && { changed_since: presentSince(since) }),
        }),
      };
    },
  );

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

function askedIn({ objectType, objID }: Static<typeof ObjectPath>, namespace: string | undefined): AskedObject {
  return readNamespace({ type: readObjectType(objectType), id: readId(objID, 'object ID') }, namespace);
}

const NOT_PAST = 'Remedies are for the present, not for a past moment.';

function shownObject({ type, id, namespace }: AskedObject) {
  return { objectType: type, objectID: id, ...(namespace !== undefined && { namespace }) };
}

/** About whom the answer is. */
function askedOf(principalId: bigint) {
  const { type, id } = principalOf(principalId);
  return type === 'robot_ac' ? { userID: id, userType: type } : { userID: id };
}

/** What is outside has no reasons that the token may show, nor has a single object: they are in its organization. */
function presentLimited({ object, callerId, relation }: Question, allowed: boolean) {
  const nothing = { steps: [], missing: [], needs: [], excluded_by: [], trail: [] };
  const sentence = allowed
    ? 'the owner of this token may do that, for reasons that are outside the limits of the token'
    : outsideLimits(object);
  const about = { ...shownObject(object), relation, ...askedOf(callerId) };
  return { ...about, allowed, token_limit: true, sentence, ...nothing };
}

function presentStep({ subjectName, tuple, ...step }: ExplainedStep) {
  return { ...step, subject_name: subjectName, tuple: tuple ?? null };
}

function readFurther(text = ''): readonly string[] {
  const relations = [...new Set(text.split(',').filter((one) => one !== ''))];
  if (relations.length <= MAX_FURTHER) return relations;
  throw new AppError('invalid', `also must name at most ${MAX_FURTHER} relations`);
}
