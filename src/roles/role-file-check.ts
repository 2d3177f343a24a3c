import type { GuardrailChecks } from '../guardrails/guardrail-check.ts';
import type { GuardrailPlan } from '../guardrails/guardrail-file.ts';
import { rejectionOf } from '../guardrails/new-violations.ts';
import { roleTuples } from '../simulation/organization-state.ts';
import type { Plan } from './role-plan.ts';
import type { RoleDraft } from './roles.ts';

/** Throws what the guardrails would reject the changes of a file for, including those in the file itself. */
export type RoleFileCheck = (
  organizationId: bigint,
  callerId: bigint,
  plan: Plan,
  rules: GuardrailPlan | undefined,
) => Promise<void>;

/** Nothing is written: the changes are made in a copy of the organization. */
export function createRoleFileCheck(checks: GuardrailChecks): RoleFileCheck {
  return async (organizationId, callerId, plan, rules) => {
    const count = [plan, rules].reduce((sum, one) => sum + (one ? changesIn(one) : 0), 0);
    // What changes nothing is not inspected.
    if (count === 0) return;
    const check = await checks.open(organizationId, callerId, { isForFile: rules !== undefined });
    if (!check) return;
    for (const { id } of plan.deletes) put(id, undefined);
    for (const [place, draft] of plan.creates.entries()) put(-1n - BigInt(place), draft);
    for (const { current, next } of plan.updates) put(current.id, next);
    const [first] = await check.rejected(new Map(), rules);
    if (first) throw rejectionOf(first);

    function put(id: bigint, draft: RoleDraft | undefined): void {
      const relations = draft?.permissions.map(({ relation }) => relation) ?? [];
      check?.copy.restate(
        `role:${id}`,
        draft ? roleTuples(organizationId, { id, relations, teamIds: draft.teamIds }) : [],
      );
    }
  };
}

function changesIn({ creates, updates, deletes }: Pick<Plan | GuardrailPlan, 'creates' | 'updates' | 'deletes'>) {
  return creates.length + updates.length + deletes.length;
}
