import { insertAssignment, isAssignedTwice } from '../assignments/assignments.store.ts';
import type { NewAssignment } from '../assignments/assignments.ts';
import { AppError } from '../base/errors.ts';
import type { Actor } from '../changes/audit-entry.ts';
import type { Quotas } from '../changes/quotas.store.ts';
import { joinTeam } from '../organizations/members.store.ts';
import type { Transaction } from '../users/users.store.ts';
import { type AccessRequest, requestName } from './access-request.ts';
import type { Granting } from './granting.ts';
import { changedSince } from './request-errors.ts';

/** Makes the change as a part of the transaction that approves it. Returns the ID of the assignment, if it makes one. */
export async function grantRequest(
  transaction: Transaction,
  quotas: Quotas,
  request: AccessRequest,
  { actor, assignment, rejectTeam }: Granting,
): Promise<bigint | undefined> {
  const { organizationId, change, by, until } = request;
  if (assignment) {
    const made = await assign(transaction, quotas, { organizationId, actor }, assignment, requestName(request.id));
    return made;
  }
  if (change.action !== 'team.add_member' || !rejectTeam) throw new AppError('internal', 'nothing to grant');
  const joined = await joinTeam(transaction, quotas, {
    ...{ teamId: change.team.id, accountId: by.id, actor, term: until },
    condition(grant, { isMember }) {
      if (isMember) throw hasItAlready();
      rejectTeam(grant);
    },
  });
  if (joined === undefined) throw isGone();
  return undefined;
}

async function assign(
  transaction: Transaction,
  quotas: Quotas,
  setting: { readonly organizationId: bigint; readonly actor: Actor },
  made: NewAssignment,
  requestId: string,
): Promise<bigint> {
  try {
    const assignment = await insertAssignment(transaction, quotas, setting, made, requestId);
    if (assignment === 'not a member') throw isGone();
    const relations = (role: NewAssignment['role']) => role.permissions.map(({ relation }) => relation).join();
    if (relations(assignment.role) !== relations(made.role)) throw changedSince();
    return assignment.id;
  } catch (error) {
    if (isAssignedTwice(error)) throw hasItAlready();
    throw error;
  }
}

function hasItAlready(): AppError {
  return new AppError('conflict', 'the requester has this already', { reason: 'already_assigned' });
}

function isGone(): AppError {
  return new AppError('conflict', 'the requester is no member any more', { reason: 'not_a_member' });
}
