import { structureOf } from '../changes/derived-tuples.ts';
import type { GuardrailPlan, GuardrailsNow } from '../guardrails/guardrail-file.ts';
import type { SourcedTuple } from '../guardrails/people-graph.ts';
import type { KnownNames, Restated, Trial } from '../guardrails/trial.ts';
import type { ToldViolation } from '../guardrails/verdict.ts';
import type { Tuple } from '../rebac/tuple.ts';
import { roleTuples } from '../roles/role-preview.ts';
import type { Hypothesis } from './hypothesis.ts';
import { membershipsOf } from './team-state.ts';

export type Rehearsal = ReturnType<typeof createRehearsal>;

/** Tells the guardrails of each change that is made in a hypothesis. */
export function createRehearsal(world: Hypothesis, trial: Trial | undefined) {
  let adopted: GuardrailPlan | undefined;
  return {
    guardrails: async (): Promise<GuardrailsNow> => (await trial?.present()) ?? { guardrails: [], names: new Map() },
    /** The call that is being made changes guardrails, too. */
    adopt(plan: GuardrailPlan): void {
      adopted = plan;
    },
    /** What the call that has just been made would be refused for. */
    async refused(): Promise<ToldViolation[]> {
      const plan = adopted;
      adopted = undefined;
      return (await trial?.refused(restated(), renamed(), plan)) ?? [];
    },
    /** What holds less in the end than in the beginning. */
    async outcome(): Promise<ToldViolation[]> {
      await trial?.happened(restated());
      return (await trial?.outcome(renamed())) ?? [];
    },
  };

  function restated(): Restated {
    const { organizationId } = world;
    const { teams, roles } = world.takeRestated();
    const rows = new Map<string, SourcedTuple[]>();
    for (const id of teams) {
      const team = world.teams.get(id);
      const tuples = team ? [...structureOf(organizationId, team), ...membershipsOf(organizationId, team)] : [];
      enter(rows, `team:${id}`, tuples);
    }
    for (const id of roles) {
      const role = world.roles.get(id);
      enter(rows, `role:${id}`, role ? roleTuples(organizationId, id, role) : []);
    }
    return rows;
  }

  function renamed(): KnownNames {
    const names = new Map<string, string>();
    for (const id of world.changedTeams) {
      const team = world.teams.get(id);
      if (team) names.set(`team:${id}`, team.name);
    }
    return names;
  }
}

function enter(rows: Map<string, SourcedTuple[]>, source: string, tuples: readonly Tuple[]): void {
  rows.set(
    source,
    tuples.map(({ object, relation, user }) => ({ object, relation, user, source })),
  );
}
