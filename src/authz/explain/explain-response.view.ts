import Type from 'typebox';
import { OBJECT_TYPES } from '../../changes/object-kinds.ts';
import { principalOf } from '../../changes/principal.ts';
import { ChangedSince } from '../../history/as-of.view.ts';
import { Int64, named } from '../../http/wire/schemas.ts';
import type { AskedObject } from '../object-ref.ts';
import { outsideLimits } from '../token-reach.ts';
import type { ExplainedStep } from './explain.ts';
import type { Question } from './question.ts';
import { NamedRelationship, Relationship } from './relationship.view.ts';
import { ForbiddingGuardrail, RemedyResponse } from './remedy.view.ts';

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

export const ExplainResponse = named(
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

export function shownObject({ type, id, namespace }: AskedObject) {
  return { objectType: type, objectID: id, ...(namespace !== undefined && { namespace }) };
}

/** About whom the answer is. */
export function askedOf(principalId: bigint) {
  const { type, id } = principalOf(principalId);
  return type === 'robot_ac' ? { userID: id, userType: type } : { userID: id };
}

/** What is outside has no reasons that the token may show, nor has a single object: they are in its organization. */
export function presentLimited({ object, callerId, relation }: Question, allowed: boolean) {
  const nothing = { steps: [], missing: [], needs: [], excluded_by: [], trail: [] };
  const sentence = allowed
    ? 'the owner of this token may do that, for reasons that are outside the limits of the token'
    : outsideLimits(object);
  const about = { ...shownObject(object), relation, ...askedOf(callerId) };
  return { ...about, allowed, token_limit: true, sentence, ...nothing };
}

export function presentStep({ subjectName, tuple, ...step }: ExplainedStep) {
  return { ...step, subject_name: subjectName, tuple: tuple ?? null };
}
