import type { Graphs } from '../authz/graphs.ts';
import type { GuardrailPlan } from '../guardrails/guardrail-file.ts';
import type { SourcedTuple } from '../guardrails/people-graph.ts';
import type { Trials } from '../guardrails/trial.ts';
import { refusalOf } from '../guardrails/verdict.ts';
import type { Plan } from './role-plan.ts';
import { roleTuples } from './role-preview.ts';
import type { RoleDraft } from './roles.ts';

/** Throws what the guardrails would reject the changes of a file for, including those in the file itself. */
export type RehearseFile = (
  organizationId: bigint,
  callerId: bigint,
  plan: Plan,
  rules: GuardrailPlan | undefined,
) => Promise<void>;

/** Nothing is written: the changes are made in a copy of the organization. */
export function createRoleRehearsal(graphs: Pick<Graphs, 'copyOf'>, trials: Trials): RehearseFile {
  return async (organizationId, callerId, plan, rules) => {
    const { creates, updates, deletes } = plan;
    const count = [plan, rules].reduce((sum, one) => sum + (one ? changesIn(one) : 0), 0);
    // What changes nothing is not inspected.
    if (count === 0) return;
    const trial = await (rules ? trials.openForFile : trials.open)(organizationId, callerId);
    if (!trial) return;
    await graphs.copyOf(organizationId, (tuple) => {
      trial.note(tuple);
      return false;
    });
    const rows = new Map<string, readonly SourcedTuple[]>([
      ...deletes.map(({ id }) => rowOf(organizationId, id, undefined)),
      ...creates.map((draft, place) => rowOf(organizationId, -1n - BigInt(place), draft)),
      ...updates.map(({ current, next }) => rowOf(organizationId, current.id, next)),
    ]);
    const [first] = await trial.refused(rows, new Map(), rules);
    if (first) throw refusalOf(first);
  };
}

function changesIn({ creates, updates, deletes }: Pick<Plan | GuardrailPlan, 'creates' | 'updates' | 'deletes'>) {
  return creates.length + updates.length + deletes.length;
}

function rowOf(organizationId: bigint, id: bigint, draft: RoleDraft | undefined): [string, SourcedTuple[]] {
  const source = `role:${id}`;
  const tuples = draft ? [...roleTuples(organizationId, id, draft)] : [];
  return [source, tuples.map(({ object, relation, user }) => ({ object, relation, user, source }))];
}
