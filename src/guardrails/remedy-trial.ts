import type { Graphs } from '../authz/graphs.ts';
import type { OpenRemedyTrial, RemedyStep } from '../authz/remedies.ts';
import type { Tuple } from '../rebac/tuple.ts';
import type { SourcedTuple } from './people-graph.ts';
import type { RestateFrom, Trials } from './trial.ts';

/** What is said of the owners' team while it has a single member, so not any more when a user joins. */
const OF_A_SINGLE_MEMBER = ['kept', 'last_owner'];

/** Remedies are tried against the guardrails, as the guard of writes would inspect them. */
export function createRemedyTrials(graphs: Pick<Graphs, 'copyOf'>, trials: Trials): OpenRemedyTrial {
  return async (organizationId, callerId) => {
    const trial = await trials.open(organizationId, callerId);
    if (!trial) return undefined;
    await graphs.copyOf(organizationId, (tuple) => {
      trial.note(tuple);
      return false;
    });
    return async (steps) => {
      const refused = await trial.wouldRefuse(steps.map(restating));
      return refused && { id: refused.id, name: refused.name, sentence: refused.sentence };
    };
  };
}

function restating(step: RemedyStep): RestateFrom {
  return (tuplesOf) => {
    if ('joins' in step) {
      const team = `team:${step.joins}`;
      const stays = tuplesOf(team).filter(({ relation }) => !OF_A_SINGLE_MEMBER.includes(relation));
      return new Map([[team, sourced(team, [...stays, { object: team, relation: 'member', user: step.user }])]]);
    }
    const roles = Map.groupBy(step.tuples, ({ object, user }) => (object.startsWith('role:') ? object : baseOf(user)));
    return new Map([...roles].map(([role, added]) => [role, sourced(role, [...tuplesOf(role), ...added])]));
  };
}

function sourced(source: string, tuples: readonly Tuple[]): SourcedTuple[] {
  return tuples.map(({ object, relation, user }) => ({ object, relation, user, source }));
}

/** `role:4` of `role:4#assignee`. */
function baseOf(subject: string): string {
  return subject.split('#')[0] ?? '';
}
