import { createPace } from '../base/slices.ts';
import { allowed, check } from '../rebac/engine.ts';
import type { Graph } from '../rebac/graph.ts';
import { possibleObjects } from '../rebac/list-objects.ts';
import type { Graphs } from './graphs.ts';

export interface VisibleCluster {
  readonly id: bigint;
  /** The user or organization that owns it. */
  readonly ownerId: bigint;
  /** What the user may do with it, in the order of the model. */
  readonly relations: readonly string[];
}

export interface Viewer {
  readonly id: bigint;
  /** The organizations that the user is in. */
  readonly organizations: Pick<ReadonlyMap<bigint, unknown>, 'keys'>;
}

export interface VisibleClusterStore {
  /** Organizations that have clusters: there, a site administrator, who is a member everywhere, may see some. */
  organizationsWithClusters(): Promise<bigint[]>;
}

export type VisibleClusters = ReturnType<typeof createVisibleClusters>;

const AT_ONCE = 8;

/**
 * Which clusters a user may view, in all their organizations and among those they own: the engine's own answer. There
 * can be tens of thousands, so others are served in between. Each answer is exact as of a moment after the call.
 */
export function createVisibleClusters(graphs: Pick<Graphs, 'of'>, store: VisibleClusterStore) {
  return { clusters, visibleTo, visibleIn: ofOwner };

  /** By ID, of the user and of the organizations that the user is in. The user must come from this request. */
  async function clusters(person: Viewer): Promise<VisibleCluster[]> {
    const pace = createPace();
    const user = userOf(person);
    const found: VisibleCluster[] = [];
    for (const ownerId of [person.id, ...person.organizations.keys()]) {
      const graph = await graphs.of(ownerId);
      for (const object of possiblyVisible(graph, user)) {
        const relations = allowed(graph, user, object, { prefix: 'can_' });
        if (relations.includes(VIEW)) found.push({ id: idOf(object), ownerId, relations });
        await pace();
      }
      await pace();
    }
    return found.sort((a, b) => (a.id < b.id ? -1 : 1));
  }

  /** The IDs of those that one account owns. */
  async function ofOwner(person: Pick<Viewer, 'id'>, ownerId: bigint): Promise<bigint[]> {
    const found = new Set<string>();
    await addVisible(await graphs.of(ownerId), userOf(person), createPace(), found);
    return [...found].map(idOf);
  }

  /** Only the IDs; for a site administrator, those of all organizations. */
  async function visibleTo(person: Viewer & { readonly isAdmin: boolean }): Promise<bigint[]> {
    const pace = createPace();
    const user = userOf(person);
    const organizations = person.isAdmin ? await store.organizationsWithClusters() : person.organizations.keys();
    const accounts = [person.id, ...organizations];
    const found = new Set<string>();
    // A few at a time: loading graphs that are not known yet mostly waits for the database.
    for (let at = 0; at < accounts.length; at += AT_ONCE) {
      for (const graph of await Promise.all(accounts.slice(at, at + AT_ONCE).map(graphs.of))) {
        await addVisible(graph, user, pace, found);
      }
      await pace();
    }
    return [...found].map(idOf);
  }
}

const VIEW = 'can_view';

function userOf({ id }: Pick<Viewer, 'id'>): string {
  return `user:${id}`;
}

function possiblyVisible(graph: Graph, user: string): string[] {
  return possibleObjects(graph, { user, relation: VIEW, type: 'cluster' });
}

async function addVisible(
  graph: Graph,
  user: string,
  pace: () => Promise<void> | undefined,
  found: Set<string>,
): Promise<void> {
  for (const object of possiblyVisible(graph, user)) {
    if (check(graph, { user, relation: VIEW, object })) found.add(object);
    await pace();
  }
}

function idOf(cluster: string): bigint {
  return BigInt(cluster.slice('cluster:'.length));
}
