import Type, { type Static, type TSchema } from 'typebox';
import { HIDDEN } from '../authz/explain/hidden-objects.ts';
import { idOf } from '../authz/object-ref.ts';
import { Int64, Int64Input, MaybeInt64, named, orNull, shownAs, Timestamp, timestamp } from '../http/wire/schemas.ts';
import { UserImpact } from '../impact/user-impact.view.ts';
import { expiryText } from '../organizations/expires-at.view.ts';
import { CATALOG } from '../roles/catalog.ts';
import { typeOf } from '../simulation/object-classes.ts';
import { REQUEST_STATES, requestName } from './access-request.ts';
import type { NamedEffect, ShownRequest } from './shown-requests.ts';

const says = (description: string) => ({ description });
const Moment = Timestamp as typeof Timestamp & { type: string };
const nullable = <Schema extends TSchema & { type: string }>(schema: Schema, description: string) =>
  orNull({ ...schema, description });
const MaybeMoment = (description: string) => Type.Unsafe<string | null>({ ...orNull(Moment), ...says(description) });
const maybeId = { ...MaybeInt64, ...says('Null if hidden.') };
const plainPrincipal = () =>
  Type.Object(
    { type: Type.String(says('user or robot_ac.')), id: Int64, name: Type.String(says('Empty if it is gone.')) },
    says('A user or a robot.'),
  );
const Principal = named('RequestPrincipal', plainPrincipal());
const NamedObject = named(
  'RequestObject',
  Type.Object(
    {
      type: Type.String(says('What it is.')),
      id: maybeId,
      name: Type.String(says('Its name, or (hidden) if the caller may not see it.')),
    },
    says('An object.'),
  ),
);
const Change = named(
  'RequestedChange',
  Type.Object(
    {
      action: Type.String({ enum: ['assignment.create', 'team.add_member'], ...says('What an approval does.') }),
      role: Type.Optional(Type.Object({ id: maybeId, name: Type.String(says('Its name.')) }, says('The role.'))),
      to: Type.Optional(Principal),
      on: Type.Optional(NamedObject),
      namespaces: Type.Optional(Type.Array(Type.String(), says('The only namespaces in which it counts.'))),
      id: Type.Optional(maybeId),
      team: Type.Optional(Type.Object({ id: maybeId, name: Type.String(says('Its name.')) }, says('The team.'))),
      username: Type.Optional(Type.String(says('The user who joins the team.'))),
      expires_at: MaybeMoment('When it ends. Null: never.'),
    },
    says('A change.'),
  ),
);
const Decision = named(
  'RequestDecision',
  Type.Object({
    by: nullable(plainPrincipal(), 'Null if the caller may not see the members.'),
    decision: Type.String({ enum: ['approved', 'denied'], ...says('What was decided.') }),
    comment: Type.String(says('What the approver said.')),
    digest: nullable(Type.String(), 'What was approved.'),
    at: Type.Unsafe<string>({ ...Timestamp, ...says('When.') }),
  }),
);
export const RequestResponse = named(
  'AccessRequest',
  Type.Object({
    id: Type.String(says('Such as req_123.')),
    organization: Type.String(says('Name of the organization.')),
    state: Type.String({ enum: [...REQUEST_STATES], ...says('What has become of it.') }),
    by: Principal,
    asks: Type.Object(
      {
        relation: Type.String(says('The relation, such as can_connect.')),
        object: NamedObject,
        namespaces: nullable(Type.Array(Type.String()), 'Of a cluster. Null: all of it.'),
      },
      says('What is asked for.'),
    ),
    changes: Type.Array(Change, says('What an approval does.')),
    impact: Type.Object(
      {
        users: Type.Array(UserImpact, says('The requester, with what they gain and lose.')),
        total: Type.Integer(says('How many users and robots are affected.')),
      },
      says('What follows from the changes. In lists, as of when the request was last looked at.'),
    ),
    digest: Type.String(says('Stands for the changes and their impact. An approval names it.')),
    reason: Type.String(says('Why it is asked for.')),
    until: MaybeMoment('When the access ends. Null: never, if an administrator took the end away.'),
    rule: nullable(Type.String(), 'The request rule that allowed it. Null: the default.'),
    approvals_needed: Type.Integer(says('How many users must approve.')),
    approvers: Type.Array(
      Principal,
      says('Who can: at most 100 of them. Empty if the caller may not see the members.'),
    ),
    approvers_count: Type.Integer(says('How many can.')),
    decisions: Type.Array(Decision, says('What was decided, the oldest first.')),
    break_glass: Type.Optional(
      Type.Object(
        {
          acknowledged_at: MaybeMoment('When an owner acknowledged it.'),
          acknowledged_by: nullable(plainPrincipal(), 'The owner who did.'),
        },
        says('Only of a request that was granted without an approval, in an emergency.'),
      ),
    ),
    created_at: Timestamp,
    closes_at: Type.Unsafe<string>({ ...Timestamp, ...says('Until when it can be decided.') }),
    closed_at: MaybeMoment('When it was decided, or closed otherwise. Null while it is open.'),
    because: nullable(Type.String(), 'Why it failed.'),
    assignment_ids: Type.Array(Int64, says('The assignments that it made.')),
  }),
);

const reference = (description: string) =>
  Type.Object(
    {
      type: Type.String(says('organization, cluster, contract, robot_ac or team.')),
      id: Type.Optional(Type.Union([Int64Input, Type.Null()])),
      name: Type.Optional(
        shownAs(Type.Unsafe<string | null>({ type: 'string', nullable: true }), {
          ...{ type: ['string', 'null'], description: 'Its name.' },
        }),
      ),
    },
    { description },
  );
export const NewRequestBody = named(
  'NewAccessRequest',
  Type.Object({
    relation: Type.String(says('The relation that is asked for, such as can_connect.')),
    object: named('RequestedObject', reference('The object, by ID or name.')),
    namespaces: Type.Optional(Type.Array(Type.String(), says('Of a cluster: only in these namespaces, at most 50.'))),
    for: Type.Optional(Type.String(says('For how long, such as PT4H. Either this or until.'))),
    until: Type.Optional(Type.Unsafe<string>({ ...Timestamp, ...says('Until when. Either this or for.') })),
    reason: Type.String(says('Why. At most 1000 characters.')),
    remedy: Type.Optional(
      Type.Unsafe<number | { changes: unknown[] }>({
        description: 'One of the remedies that explain offers: its position, from 0, or {"changes": […]}.',
      }),
    ),
    break_glass: Type.Optional(
      Type.Boolean(says('Take it immediately, without an approval, for at most an hour. All owners are told.')),
    ),
  }),
);
const Comment = { comment: Type.Optional(Type.String(says('At most 1000 characters.'))) };
export const ApprovalBody = named(
  'NewApproval',
  Type.Object({
    digest: Type.Optional(
      shownAs(Type.Unsafe<unknown>({}), {
        type: 'string',
        description: 'The digest of the request, as the caller has seen it. Required.',
      }),
    ),
    ...Comment,
  }),
);
export const DenialBody = named('NewDenial', Type.Object(Comment));
export type NewRequestInput = Static<typeof NewRequestBody>;

export function presentRequest(shown: ShownRequest) {
  const { request, seesMembers, seesObject } = shown;
  const { by, object, until, decisions, isBreakGlass, acknowledgedBy, acknowledgedAt } = request;
  return {
    ...{ id: requestName(request.id), organization: request.organizationName, state: request.state, by: { ...by } },
    asks: { relation: request.relation, object: objectAs(object, seesObject), namespaces: listOf(request.namespaces) },
    changes: [presentChange(shown)],
    impact: presentImpact(shown),
    ...{ digest: request.digest, reason: request.reason, until: until && expiryText(until), rule: request.rule },
    approvals_needed: shown.approvals,
    approvers: shown.approvers.map((one) => ({ ...one })),
    approvers_count: shown.approversCount,
    decisions: decisions.map(({ userId, userName, isApproval, comment, digest, decidedAt }) => ({
      by: seesMembers ? { type: 'user', id: userId, name: userName } : null,
      decision: isApproval ? 'approved' : 'denied',
      ...{ comment, digest, at: timestamp(decidedAt) },
    })),
    ...(isBreakGlass && {
      break_glass: {
        acknowledged_at: acknowledgedAt && timestamp(acknowledgedAt),
        acknowledged_by: acknowledgedBy && seesMembers ? { type: 'user', ...acknowledgedBy } : null,
      },
    }),
    created_at: timestamp(request.createdAt),
    closes_at: expiryText(request.closesAt),
    closed_at: request.closedAt && timestamp(request.closedAt),
    because: request.because,
    assignment_ids: request.assignmentId === null ? [] : [request.assignmentId],
  };
}

function presentChange({ request, seesChange, seesObject }: ShownRequest) {
  const { change, by, object, namespaces, until } = request;
  const expires_at = until && expiryText(until);
  const shown = <Thing extends { id: bigint; name: string }>({ id, name }: Thing) =>
    seesChange ? { id, name } : { id: null, name: HIDDEN };
  if (change.action === 'team.add_member') {
    const team = shown(change.team);
    return { action: change.action, id: team.id, team, username: by.name, expires_at };
  }
  const place = { on: objectAs(object, seesObject), ...(namespaces && { namespaces: [...namespaces] }) };
  return { action: change.action, role: shown(change.role), to: { ...by }, ...place, expires_at };
}

function presentImpact({ request, gains, loses, more }: ShownRequest) {
  const { by, effects, until } = request;
  const user = { id: by.id, name: by.name, ...(by.type === 'robot_ac' && { type: by.type }) };
  const ends = until ? { expires_at: expiryText(until) } : {};
  const isAffected = gains.length + loses.length + more > 0;
  const one = {
    user,
    gains: gains.map((effect) => ({ ...presentEffect(effect), ...ends })),
    loses: loses.map(presentEffect),
  };
  return { users: isAffected ? [{ ...one, keeps: [], more }] : [], total: effects.total };
}

function presentEffect({ object, relation, name, namespaces }: NamedEffect) {
  const type = typeOf(object);
  const permission = type === 'organization' ? CATALOG.find((entry) => entry.relation === relation) : undefined;
  return {
    object: { type, id: idOf(object), name },
    relation,
    permission: permission ? { namespace: permission.namespace, action: permission.action } : null,
    ...(namespaces && { namespaces: [...namespaces] }),
  };
}

function objectAs({ type, id, name }: { type: string; id: bigint; name: string }, isSeen: boolean) {
  return isSeen ? { type, id, name } : { type, id: null, name: HIDDEN };
}

function listOf(names: readonly string[] | null): string[] | null {
  return names && [...names];
}
