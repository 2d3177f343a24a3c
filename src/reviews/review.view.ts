import Type, { type Static } from 'typebox';
import { OBJECT_TYPES, PRINCIPAL_TYPES } from '../changes/object-kinds.ts';
import { principalOf } from '../changes/principal.ts';
import {
  Int64,
  Int64Input,
  named,
  orNull,
  readIdNumber,
  readMoment,
  Timestamp,
  timestamp,
} from '../http/wire/schemas.ts';
import type { ImpactReport } from '../impact/impact.ts';
import {
  ITEM_KINDS,
  ITEM_STATES,
  QUESTION_KINDS,
  type Review,
  type ReviewItem,
  type TextNamed,
  UNDECIDED,
} from './review.ts';
import { questionText } from './review-question.ts';
import type { EndingImpact, RecordProof, ReviewInput } from './reviews.ts';

const says = (description: string) => ({ description });
const Moment = (description: string) => Type.Unsafe<string>({ ...Timestamp, description });
const MaybeMoment = (description: string) =>
  Type.Unsafe<string | null>({ ...orNull(Timestamp as typeof Timestamp & { type: string }), description });
const Reference = (description: string) =>
  Type.Object({ id: Int64, name: Type.String(says('Its name.')) }, { description });
const MaybeReference = (description: string) => orNull(Reference(description));
const Typed = (types: readonly string[], description: string) =>
  Type.Object(
    {
      type: Type.String({ enum: [...types], ...says('What it is.') }),
      id: Int64,
      name: Type.String(says('Its name.')),
    },
    { description },
  );

const Question = named(
  'ReviewQuestion',
  Type.Object(
    {
      kind: Type.String({
        enum: [...QUESTION_KINDS],
        ...says(
          'access: who holds a relation on an object. team: its members and its assignments. robot_tokens: tokens of robots ' +
            'that are older than so many days. unused: access that was not used in so many days.',
        ),
      }),
      relation: Type.Optional(Type.String(says('Of access: such as can_connect.'))),
      object: Type.Optional(Typed(OBJECT_TYPES, 'Of access: the object.')),
      namespace: Type.Optional(Type.String(says('Of access to a cluster: only in this namespace.'))),
      team: Type.Optional(Reference('Of team: the team.')),
      days: Type.Optional(Type.Integer(says('Of robot_tokens and unused.'))),
    },
    says('What the review is about.'),
  ),
);
const Entry = (description: string) =>
  Type.Object({ id: Int64, hash: Type.String(says('The hash of the entry, in hexadecimal digits.')) }, { description });
const REVIEW = {
  id: Int64,
  name: Type.String(says('Its name. By default, its question.')),
  about: Type.String(says('The question as a sentence.')),
  question: Question,
  state: Type.String({ enum: ['open', 'closed'], ...says('closed: everything is decided, and there is a record.') }),
  undecided: Type.String({ enum: [...UNDECIDED], ...says('What happens to items that were not decided.') }),
  due_at: Moment('When it is closed by itself.'),
  reviewers: Type.Array(Reference('A reviewer, with their login name.'), says('Who decides. Empty: the owners.')),
  started_at: Moment('The moment that the items are of.'),
  started_by: Reference('The user who started it.'),
  closed_at: MaybeMoment('When it was closed. Null: it is open.'),
  closed_by: MaybeReference('The user who closed it. Null: it is open, or was closed when it was due.'),
  counts: Type.Object(
    Object.fromEntries(ITEM_STATES.map((state) => [state, Type.Integer(says('How many items are in this state.'))])),
    says('How many items there are, by state.'),
  ),
  left_out: Type.Integer(
    says(
      'Users who have what the question asks for, but not through anything that a review can end: site administrators.',
    ),
  ),
};
export const ReviewResponse = named('Review', Type.Object(REVIEW));
const OF_MEMBERSHIP = {
  team: Type.Optional(Reference('Of a membership: the team.')),
};
const OF_ASSIGNMENT = {
  assignment_id: Type.Optional(Type.Unsafe<number | bigint>({ ...Int64, ...says('Of an assignment: its ID.') })),
  role: Type.Optional(Reference('Of an assignment: the role.')),
  on: Type.Optional(
    Type.Object(
      { type: Type.String(says('What it is.')), id: Int64, name: Type.String(says('Its name.')) },
      says('Of an assignment: on what the role is assigned.'),
    ),
  ),
};
const OF_TOKEN = {
  token: Type.Optional(Reference('Of a token: the token of the robot.')),
};
const ITEM_FIELDS = {
  id: Int64,
  kind: Type.String({ enum: [...ITEM_KINDS], ...says('What can be kept or ended.') }),
  principal: Typed(PRINCIPAL_TYPES, 'Who has it.'),
  ...OF_MEMBERSHIP,
  ...OF_ASSIGNMENT,
  ...OF_TOKEN,
  sentence: Type.String(says('Why they had it when the review was started.')),
  state: Type.String({
    enum: [...ITEM_STATES],
    ...says('gone: it had ended otherwise. rejected: the review could not end it, so it is still there.'),
  }),
  present: Type.Boolean(says('Whether the access is still there now.')),
  decided_by: MaybeReference('Who decided. Null: not decided yet, or decided by the review itself.'),
  decided_at: MaybeMoment('When it was decided. Null: it is open.'),
  comment: Type.String(says('What the reviewer wrote.')),
  rejection: orNull(
    Type.Object(
      { reason: Type.String(says('The reason code.')), message: Type.String(says('The same in words.')) },
      says('Why it could not be ended.'),
    ),
  ),
};
export const ReviewItemResponse = named('ReviewItem', Type.Object(ITEM_FIELDS));
export const FullReview = named(
  'ReviewWithItems',
  Type.Object({
    ...REVIEW,
    record: orNull(
      Type.Object(
        {
          sha256: Type.String(says('SHA-256 of the record, byte for byte, in hexadecimal digits.')),
          start: Entry('The entry of the audit log that started the review.'),
          close: Entry('The entry that closed it. It has the hash of the record.'),
          verified: Type.Boolean(says('Whether the record still has the hash that the audit log names.')),
        },
        says('How the record is found in the audit log. Null: the review is open.'),
      ),
    ),
    items: Type.Array(ReviewItemResponse, says('One page of the items.')),
  }),
);
const Effect = Type.Object({
  object: Type.Object(
    { type: Type.String(says('What it is.')), id: Int64, name: Type.String(says('Its name.')) },
    says('The object.'),
  ),
  relation: Type.String(says('What can be done on it.')),
});
export const ItemWithImpact = named(
  'ReviewItemWithImpact',
  Type.Object({
    ...ITEM_FIELDS,
    impact: orNull(
      Type.Object(
        {
          users: Type.Array(
            Type.Object({
              user: Typed(['user', 'robot_ac'], 'A user or robot.'),
              loses: Type.Array(Effect, says('What they could not do any more; at most 100 on single objects.')),
              more: Type.Integer(says('How many more are left out.')),
            }),
            says('Who would lose something; at most 50.'),
          ),
          total: Type.Integer(says('How many users and robots it concerns.')),
          unattended: Type.Array(Effect, says('What no user could do any more.')),
        },
        says('What would change if the caller ended it now. Null: nothing, or the caller cannot.'),
      ),
    ),
    cannot_end: orNull(
      Type.Object(
        { reason: Type.String(says('The reason code.')), message: Type.String(says('The same in words.')) },
        says('Why the caller cannot end it.'),
      ),
    ),
  }),
);

const named_ = (description: string) =>
  Type.Object({ id: Type.Optional(Int64Input), name: Type.Optional(Type.String(says('Its name.'))) }, { description });
export const NewReviewBody = named(
  'NewReview',
  Type.Object({
    name: Type.Optional(Type.String({ description: 'At most 100 characters. By default, the question.' })),
    question: named(
      'NewReviewQuestion',
      Type.Object(
        {
          kind: Type.Union(
            QUESTION_KINDS.map((kind) => Type.Literal(kind)),
            says('access, team, robot_tokens or unused.'),
          ),
          relation: Type.Optional(Type.String(says('Of access: such as connect or can_connect.'))),
          object: Type.Optional(
            Type.Object(
              {
                type: Type.String(says('Its type.')),
                id: Type.Optional(Int64Input),
                name: Type.Optional(Type.String(says('Its name.'))),
              },
              says('Of access: the object, by ID or name. By default, the organization.'),
            ),
          ),
          namespace: Type.Optional(Type.String(says('Of access to a cluster: a namespace of Kubernetes.'))),
          team: Type.Optional(named_('Of team: the team, by ID or name.')),
          days: Type.Optional(Type.Integer(says('Of robot_tokens and unused: for how many days, 1 to 365.'))),
        },
        says('What to review.'),
      ),
    ),
    reviewers: Type.Optional(
      Type.Array(Type.String(), says('Login names of members, at most 20. By default, the owners decide.')),
    ),
    due_at: Type.Optional(Moment('When it is closed by itself, within 366 days. By default, in 14 days.')),
    undecided: Type.Optional(
      Type.Union(
        UNDECIDED.map((one) => Type.Literal(one)),
        says('What happens to undecided items: keep, by default, or end.'),
      ),
    ),
  }),
);
export const CommentBody = named(
  'ReviewComment',
  Type.Object({ comment: Type.Optional(Type.String({ description: 'Why, in at most 1000 characters.' })) }),
);

interface Sent {
  readonly id?: number | bigint | undefined;
  readonly name?: string | undefined;
}

export function readReview({
  name,
  question,
  reviewers,
  due_at,
  undecided,
}: Static<typeof NewReviewBody>): ReviewInput {
  const reference = ({ id, name }: Sent, what: string) => ({
    name,
    id: id === undefined ? undefined : readIdNumber(id, what),
  });
  const { kind, relation, object, namespace, team, days } = question;
  return {
    name,
    question: {
      ...{ kind, relation, namespace, days },
      object: object && { type: object.type === 'robot' ? 'robot_ac' : object.type, ...reference(object, 'object ID') },
      team: team && reference(team, 'team ID'),
    },
    reviewers,
    dueAt: due_at === undefined ? undefined : readMoment(due_at, 'due_at'),
    undecided,
  };
}

export function presentReview(review: Review) {
  const { question } = review;
  return {
    id: review.id,
    name: review.name,
    about: questionText(question),
    question: { ...question },
    state: review.closedAt ? 'closed' : 'open',
    undecided: review.undecided,
    due_at: timestamp(review.dueAt),
    reviewers: [...review.reviewers],
    started_at: timestamp(review.startedAt),
    started_by: review.startedBy,
    closed_at: review.closedAt ? timestamp(review.closedAt) : null,
    closed_by: review.closedBy ?? null,
    counts: { ...review.counts },
    left_out: review.leftOut,
  };
}

export function presentProof(proof: RecordProof | undefined) {
  if (!proof) return null;
  const entry = ({ id, hash }: RecordProof['start']) => ({ id, hash });
  return { sha256: proof.hash, start: entry(proof.start), close: entry(proof.close), verified: proof.isUnchanged };
}

export function presentItem(item: ReviewItem) {
  const { details } = item;
  const reference = (one: TextNamed) => ({ id: BigInt(one.id), name: one.name });
  return {
    id: item.id,
    kind: item.kind,
    principal: item.principal,
    ...(details.team && { team: reference(details.team) }),
    ...(item.kind === 'assignment' && { assignment_id: item.targetId }),
    ...(details.role && { role: reference(details.role) }),
    ...(details.on && { on: { type: details.on.type, ...reference(details.on) } }),
    ...(details.token && { token: reference(details.token) }),
    sentence: item.sentence,
    state: item.state,
    present: item.isPresent,
    decided_by: item.decidedBy ?? null,
    decided_at: item.decidedAt ? timestamp(item.decidedAt) : null,
    comment: item.comment,
    rejection: item.rejection ?? null,
  };
}

const MAX_USERS = 50;

export function presentEnding({ impact, rejection }: EndingImpact) {
  return { impact: impact ? presentImpact(impact) : null, cannot_end: rejection ?? null };
}

function presentImpact({ people, total, unattended, nameOf }: ImpactReport) {
  const effect = ({ object, relation }: { readonly object: string; readonly relation: string }) => ({
    object: nameOf(object),
    relation,
  });
  const losing = people.filter(({ impact }) => impact.loses.length > 0).slice(0, MAX_USERS);
  return {
    users: losing.map(({ person, impact }) => ({
      user: { ...principalOf(person.id), name: person.name },
      loses: impact.loses.map(effect),
      more: impact.more,
    })),
    total,
    unattended: unattended.map(effect),
  };
}
