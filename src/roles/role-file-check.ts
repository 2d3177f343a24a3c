import { createYielder } from '../base/scheduling/slices.ts';
import { assignmentTuplesOf } from '../changes/derived-tuples.ts';
import type { GuardrailChecks } from '../guardrails/guardrail-check.ts';
import type { GuardrailPlan } from '../guardrails/guardrail-file.ts';
import { rejectionOf } from '../guardrails/new-violations.ts';
import { roleTuples } from '../simulation/organization-state.ts';
import type { AssignmentPlan } from './assignment-plan.ts';
import type { Plan } from './role-plan.ts';
import type { RoleDraft } from './roles.ts';

/** Throws what the guardrails would reject the changes of a file for, including those in the file itself. */
export type RoleFileCheck = (organizationId: bigint, callerId: bigint, decision: Decision) => Promise<void>;

interface Decision {
  readonly plan: Plan;
  readonly assignments: AssignmentPlan | undefined;
  readonly rules: GuardrailPlan | undefined;
}

/** Nothing is written: the changes are made in a copy of the organization. */
export function createRoleFileCheck(checks: GuardrailChecks): RoleFileCheck {
  return async (organizationId, callerId, { plan, assignments, rules }) => {
    const count = [plan, assignments, rules].reduce((sum, one) => sum + (one ? changesIn(one) : 0), 0);
    // What changes nothing is not inspected.
    if (count === 0) return;
    const check = await checks.open(organizationId, callerId, { isForFile: rules !== undefined });
    if (!check) return;
    // A role at the limits has thousands of tuples, and a file hundreds of such roles.
    const yieldIfDue = createYielder();
    for (const { id } of plan.deletes) await put(id, undefined);
    for (const [place, draft] of plan.creates.entries()) await put(-1n - BigInt(place), draft);
    for (const { current, next } of plan.updates) await put(current.id, next);
    if (assignments) await putAssignments(assignments);
    const [first] = await check.rejected(new Map(), rules);
    if (first) throw rejectionOf(first);

    /** A role that does not exist yet has the number that `put` gives it, and so have assignments. */
    async function putAssignments({ creates, deletes }: AssignmentPlan): Promise<void> {
      const roleIds = new Map(plan.creates.map(({ name }, place) => [name, -1n - BigInt(place)]));
      for (const { id } of deletes) {
        check?.copy.replaceSource(`assignment:${id}`, []);
        await yieldIfDue();
      }
      for (const [place, { role, to, on }] of creates.entries()) {
        const id = -1n - BigInt(place);
        const tuples = assignmentTuplesOf({
          ...{ id, roleId: role.id ?? roleIds.get(role.name) ?? 0n, to: `${to.type}:${to.id}` },
          // A set that is not stored has no clusters.
          on: on.type === 'organization' ? undefined : `${on.type}:${on.id ?? id}`,
          ...{ isOnOwners: on.isOwners ?? false, namespaces: on.namespaces ?? undefined },
        });
        check?.copy.replaceSource(`assignment:${id}`, tuples);
        await yieldIfDue();
      }
    }

    async function put(id: bigint, draft: RoleDraft | undefined): Promise<void> {
      const relations = draft?.permissions.map(({ relation }) => relation) ?? [];
      check?.copy.restate(
        `role:${id}`,
        draft ? roleTuples(organizationId, { id, relations, teamIds: draft.teamIds }) : [],
      );
      await yieldIfDue();
    }
  };
}

type Changes = Pick<Plan | AssignmentPlan | GuardrailPlan, 'creates' | 'updates' | 'deletes'>;

function changesIn({ creates, updates, deletes }: Changes): number {
  return creates.length + updates.length + deletes.length;
}
