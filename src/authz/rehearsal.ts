import { allowed } from '../rebac/engine.ts';
import { createGraph } from '../rebac/graph.ts';
import type { Model } from '../rebac/model.ts';
import type { GraphTuple } from './graphs.ts';

const ROUNDS = 8;
const TEAMS = 40;

/**
 * Builds the graph of an organization that does not exist, a few times, between the requests of a server that has just
 * started. Code that has never run is slow: the first real graph would take three times as long.
 */
export async function rehearse(model: Model): Promise<void> {
  const tuples = [...organization()];
  for (let round = 0; round < ROUNDS; round++) {
    await new Promise((resolve) => setImmediate(resolve).unref());
    const graph = createGraph(model, tuples);
    for (let user = 1; user <= TEAMS; user++) allowed(graph, `user:${user}`, `cluster:${user}`, { prefix: 'can_' });
  }
}

function* organization(): Iterable<GraphTuple> {
  const home = 'organization:1';
  for (let team = 1; team <= TEAMS; team++) {
    const source = `team:${team}`;
    const members = `team:${team}#member`;
    yield { object: source, relation: 'organization', user: home, source };
    yield { object: home, relation: 'participant', user: members, source };
    for (let user = 1; user <= TEAMS; user += 2) {
      yield { object: source, relation: 'member', user: `user:${team + user}`, source };
    }
    const role = `role:${team}`;
    yield { object: role, relation: 'organization', user: home, source: role };
    yield { object: role, relation: 'assignee', user: members, source: role };
    yield { object: home, relation: 'can_view_clusters', user: `${role}#assignee`, source: role };
    const cluster = `cluster:${team}`;
    yield { object: cluster, relation: 'organization', user: home, source: cluster };
  }
}
