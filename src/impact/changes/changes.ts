import { AppError, reasonOf } from '../../base/errors.ts';
import type { Reason } from '../../base/reasons.ts';
import { createYielder } from '../../base/scheduling/slices.ts';
import { rejectionOf } from '../../guardrails/new-violations.ts';
import type { Simulation } from '../../simulation/simulation.ts';
import { createAssignment, removeAssignment, updateAssignment, updateCluster } from './assignment-changes.ts';
import { inChange } from './change-errors.ts';
import type { ChangeParts, Changing } from './changing.ts';
import { importRoles } from './import-changes.ts';
import { addMember, joinTeam, leaveTeam, removeMember } from './member-changes.ts';
import type { ChangeOf, PlannedChange, Rejection } from './planned-change.ts';
import { assignRole, createRole, removeRole, unassignRole, updateRole } from './role-changes.ts';
import { createTeam, removeTeam, updateTeam } from './team-changes.ts';

type Rules = {
  readonly [Action in PlannedChange['action']]: (changing: Changing, change: ChangeOf<Action>) => void | Promise<void>;
};

const RULES: Rules = {
  'role.create': createRole,
  'role.update': updateRole,
  'role.delete': removeRole,
  'role.assign': assignRole,
  'role.unassign': unassignRole,
  'team.create': createTeam,
  'team.update': updateTeam,
  'team.delete': removeTeam,
  'team.add_member': joinTeam,
  'team.remove_member': leaveTeam,
  'member.add': addMember,
  'member.remove': removeMember,
  'roles.import': importRoles,
  'assignment.create': createAssignment,
  'assignment.update': updateAssignment,
  'assignment.delete': removeAssignment,
  'cluster.update': updateCluster,
};

export const CHANGE_ACTIONS = Object.keys(RULES) as PlannedChange['action'][];

/** Rejections that say what is wrong with the outcome, not with the question: the impact is shown next to them. */
const SHOWN_WITH_IMPACT: ReadonlySet<Reason> = new Set([
  'last_owner',
  'already_assigned',
  'escalation',
  'conflict',
  'name_taken',
  'limit_reached',
]);

/**
 * Makes planned changes in a simulation, one after the other, by the rules of the calls that would really make them. What
 * such a call would not even find, or the caller may not do, is rejected here as well. Anything else that it would reject
 * is noted, and the change is made all the same, because what it would do is the reason to reject it. It is then the last
 * one: nothing may follow from a change that cannot be made.
 */
export async function makeChanges(
  simulation: Simulation,
  changes: readonly PlannedChange[],
  parts: ChangeParts,
): Promise<Rejection[]> {
  const rejections: Rejection[] = [];
  const yieldIfDue = createYielder();
  let place = 0;
  const isNoted = () => rejections.length > 0;
  const changing: Changing = { ...parts, simulation, now: new Date(), noted, isNoted, inspect };
  for (const change of changes) {
    await inChange(place, () => apply(change));
    await inspect();
    if (isNoted()) break;
    place++;
    await yieldIfDue();
  }
  return rejections;

  function apply<Action extends PlannedChange['action']>(change: ChangeOf<Action>): void | Promise<void> {
    return (RULES[change.action as Action] as Rules[Action])(changing, change);
  }

  /** What the guardrails say to the call that has just been made, unless they rejected one before. */
  async function inspect(plan?: Parameters<Changing['inspect']>[0]): Promise<void> {
    if (rejections.some(({ guardrail }) => guardrail)) return;
    for (const told of (await parts.check?.rejected(namesIn(simulation), plan)) ?? []) {
      const { message, detail } = rejectionOf(told);
      const field = `changes[${place}].action`;
      rejections.push({ change: place, field, reason: 'guardrail_violated', message, ...detail });
    }
  }

  function noted(field: string, rule: () => void): void {
    try {
      rule();
    } catch (error) {
      if (!(error instanceof AppError) || !SHOWN_WITH_IMPACT.has(reasonOf(error))) throw error;
      const { message } = error;
      rejections.push({ change: place, field: `changes[${place}].${field}`, reason: reasonOf(error), message });
    }
  }
}

/** What changed teams are called by now. */
export function namesIn({ changedTeams, teams }: Simulation): Map<string, string> {
  return new Map(
    [...changedTeams].flatMap((id) => {
      const team = teams.get(id);
      return team ? [[`team:${id}`, team.name] as const] : [];
    }),
  );
}
