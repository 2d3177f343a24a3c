import type { FastifyReply } from 'fastify';
import Type from 'typebox';
import { AppError } from '../base/errors.ts';
import { type Caller, seesAsAdmin } from '../http/admission/access.ts';
import { Int64, named, readDateTime, shownAs, Timestamp } from '../http/wire/schemas.ts';
import { ShownActor, showActor } from '../http/wire/shown-actor.ts';
import { MAX_SHOWN } from './past.ts';
import { nameIn } from './past-names.ts';
import { type ChangeRow, readState } from './recent-log.ts';

/** Read by `readAt`, which says more than validation about what is wrong. */
export function moment(description: string) {
  return shownAs(Type.String({ description }), { type: 'string', format: 'date-time' });
}

/** The parameter of every route that can answer as of a past moment. */
export const AtQuery = {
  at: Type.Optional(
    moment(
      'Answer as of this past moment (RFC 3339), from the audit log. Needs can_view_audit_log, unless callers ask about themselves.',
    ),
  ),
};

const Entry = named(
  'ChangeSince',
  Type.Object({
    at: Timestamp,
    actor: ShownActor,
    action: Type.String({ description: 'As in the audit log, such as team.add_member.' }),
    object: Type.Object({
      type: Type.String(),
      id: Int64,
      name: Type.String({ description: 'As the entry calls it, or empty.' }),
    }),
    user: Type.Optional(
      Type.Object(
        { id: Int64, name: Type.String() },
        { description: 'Who joined or left the team. Absent if the entry is about something else.' },
      ),
    ),
  }),
);

export const ChangedSince = named(
  'ChangesSince',
  Type.Object({
    total: Type.Integer(),
    entries: Type.Array(Entry, { description: `The newest first, at most ${MAX_SHOWN}.` }),
  }),
);

export function readAt(given: string | undefined, now = new Date()): Date | undefined {
  if (given === undefined) return undefined;
  const at = readDateTime('at', given);
  if (at <= now) return at;
  throw new AppError('invalid', `at must not be in the future; it is ${now.toISOString()} now`, {
    reason: 'moment_in_future',
  });
}

/** Who asks about the past of an organization. */
export function historianOf(caller: Caller & { readonly organization: { readonly id: bigint } }) {
  return { personId: caller.person.id, organizationId: caller.organization.id, isAdmin: seesAsAdmin(caller) };
}

/** Undefined if the caller may not view the audit log. */
export type Since = { readonly total: number; readonly items: readonly ChangeRow[] } | undefined;

/** For every response to ?at, also if it is a list. */
export function showAsOf(reply: FastifyReply, at: Date, since: Since): void {
  reply.header('X-As-Of', at.toISOString());
  if (since) reply.header('X-Changed-Since', String(since.total));
}

export function presentSince({ total, items }: NonNullable<Since>) {
  return { total, entries: items.map(presentChange) };
}

function presentChange({ at, actor, action, object, before, after }: ChangeRow) {
  const [left, joined] = [readState(before), readState(after)];
  const { userId, username } = joined.userId === undefined ? left : joined;
  const name = nameIn(joined) ?? nameIn(left) ?? '';
  const user = typeof userId === 'string' ? { id: BigInt(userId), name: String(username ?? '') } : undefined;
  return { at, actor: showActor(actor), action, object: { ...object, name }, ...(user && { user }) };
}
