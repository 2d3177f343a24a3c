import { allowedMany } from '../rebac/engine.ts';
import type { Graph } from '../rebac/graph.ts';
import { listObjects } from '../rebac/list-objects.ts';
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

/** Which clusters a user may view, in all their organizations and among those they own: the engine's own answer. */
export function createVisibleClusters(graphs: Pick<Graphs, 'of'>, store: VisibleClusterStore) {
  return { clusters, visibleTo, visibleIn: ofOwner };

  /** By ID, of the user and of the organizations that the user is in. The user must come from this request. */
  async function clusters(person: Viewer): Promise<VisibleCluster[]> {
    const found: VisibleCluster[] = [];
    for (const ownerId of [person.id, ...person.organizations.keys()]) {
      const graph = await graphs.of(ownerId);
      const objects = visibleIn(graph, person);
      const relations = allowedMany(graph, `user:${person.id}`, objects, { prefix: 'can_' });
      objects.forEach((object, place) => {
        found.push({ id: idOf(object), ownerId, relations: relations[place] ?? [] });
      });
    }
    return found.sort((a, b) => (a.id < b.id ? -1 : 1));
  }

  /** The IDs of those that one account owns. */
  async function ofOwner(person: Pick<Viewer, 'id'>, ownerId: bigint): Promise<bigint[]> {
    return visibleIn(await graphs.of(ownerId), person).map(idOf);
  }

  /** Only the IDs; for a site administrator, those of all organizations. */
  async function visibleTo(person: Viewer & { readonly isAdmin: boolean }): Promise<bigint[]> {
    const organizations = person.isAdmin ? await store.organizationsWithClusters() : person.organizations.keys();
    const accounts = [person.id, ...organizations];
    const found = new Set<string>();
    // A few at a time: loading graphs that are not known yet mostly waits for the database.
    for (let at = 0; at < accounts.length; at += AT_ONCE) {
      const wave = await Promise.all(accounts.slice(at, at + AT_ONCE).map(graphs.of));
      for (const graph of wave) for (const cluster of visibleIn(graph, person)) found.add(cluster);
    }
    return [...found].map(idOf);
  }
}

function visibleIn(graph: Graph, person: Pick<Viewer, 'id'>): string[] {
  return listObjects(graph, { user: `user:${person.id}`, relation: 'can_view', type: 'cluster' });
}

function idOf(cluster: string): bigint {
  return BigInt(cluster.slice('cluster:'.length));
}
