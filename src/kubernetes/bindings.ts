import {
  check,
  createGraph,
  type Graph,
  type Model,
  possibleUsers,
  statedAbout,
} from '../../packages/rebac/src/rebac.ts';
import type { Graphs, GraphTuple } from '../authz/graphs.ts';
import { everywhere, IN_NAMESPACES } from '../authz/places/namespaces.ts';
import { createYielder } from '../base/scheduling/slices.ts';
import { isSingle, principalOfSubject } from '../changes/principal.ts';
import type { Revisions } from '../changes/revision.ts';
import { PLATFORM } from '../changes/write.ts';
import type { KubernetesUsername } from '../clusters/kubernetes-access.ts';
import type { ReviewedCluster } from './reviewed-cluster.ts';
import { KUBERNETES_RELATIONS, type KubernetesRelation } from './verb-table.ts';

/** What one user or robot should hold in a cluster. */
export interface Binding {
  /** As the cluster knows them. */
  readonly user: string;
  readonly relation: KubernetesRelation;
  /** Names, and prefixes that end in `*`. Null: in the whole cluster. */
  readonly namespaces: readonly string[] | null;
  /** Null: it does not end by itself. */
  readonly expiresAt: Date | null;
}

export interface Bindings {
  readonly revision: bigint;
  readonly bindings: readonly Binding[];
}

/** A tuple that ends by itself. */
export type EndingTuple = Pick<GraphTuple, 'object' | 'relation' | 'user'> & { readonly endsAt: Date };

export interface BindingStore {
  /** Of an organization, the earliest first. */
  ending(organizationId: bigint): Promise<EndingTuple[]>;
  /** What users and robots that can sign in are called there, by their number. Those without such a name are left out. */
  usernames(ids: readonly bigint[], username: KubernetesUsername): Promise<ReadonlyMap<bigint, string>>;
}

interface Parts {
  readonly store: BindingStore;
  readonly graphs: Pick<Graphs, 'eachTuple'>;
  readonly model: Model;
  readonly revisions: Pick<Revisions, 'latest' | 'listen'>;
}

/** A user or robot that holds something, directly on the cluster or through an assignment in some namespaces. */
interface Holding {
  readonly subject: string;
  readonly relation: KubernetesRelation;
  readonly namespaces: readonly string[] | null;
  readonly asked: { readonly relation: string; readonly object: string };
  endsAt: Date | null;
}

interface Remembered {
  readonly ownerId: bigint;
  /** Whose names are in it. */
  readonly principals: ReadonlySet<bigint>;
  /** When the first of them ends. */
  readonly until: number;
  readonly answer: Bindings;
}

/** Looked at for when something ends. What lasts longer is said to end then, and an agent asks again before. */
const MAX_ENDS = 200;
const MAX_REMEMBERED = 100;
const TUPLES_IN_PART = 1_000;

/**
 * Who should hold what in a cluster, and until when: for agents, which write it into the cluster.
 *
 * 1. Asked of a copy of the graph without site administrators: what they hold by that does not count in a cluster.
 * 2. The ends are those of memberships and assignments. The copy loses one after the other, and a user who then no
 *    longer holds something held it until then.
 * 3. Agents ask all the time, so an answer is remembered until a write of the organization, or of an account that holds
 *    something, or until something ends. An answer that a write overtook is not remembered.
 */
export function createBindings({ store, graphs, model, revisions }: Parts) {
  const remembered = new Map<bigint, Remembered>();
  revisions.listen({
    forget({ kind, id, organizationId }) {
      for (const [cluster, { ownerId, principals }] of remembered) {
        const isTheirs = organizationId === ownerId || organizationId === PLATFORM;
        if (isTheirs || (kind === 'account' && (id === ownerId || principals.has(id)))) remembered.delete(cluster);
      }
    },
    forgetAll: () => remembered.clear(),
  });
  return { of };

  async function of(cluster: ReviewedCluster): Promise<Bindings> {
    const revision = revisions.latest;
    if (cluster.kubernetes.auth !== 'agent') return { revision, bindings: [] };
    const known = remembered.get(cluster.id);
    if (known !== undefined && known.until > Date.now()) return known.answer;
    const graph = await copyOf(cluster.ownerId);
    const holdings = holdingsIn(graph, `cluster:${cluster.id}`);
    await findEnds(graph, holdings, await store.ending(cluster.ownerId));
    const answer = { revision, bindings: await withNames(cluster, holdings) };
    if (revisions.latest !== revision) return answer;
    if (remembered.size >= MAX_REMEMBERED) remembered.clear();
    remembered.set(cluster.id, {
      ownerId: cluster.ownerId,
      principals: new Set(holdings.map(({ subject }) => principalOfSubject(subject))),
      until: Math.min(...holdings.map(({ endsAt }) => endsAt?.getTime() ?? Number.POSITIVE_INFINITY)),
      answer,
    });
    return answer;
  }

  async function copyOf(organizationId: bigint): Promise<Graph> {
    const kept: GraphTuple[] = [];
    await graphs.eachTuple(organizationId, (tuple) => {
      const isAdmin = tuple.object === 'platform:atrium' && tuple.relation === 'admin';
      // Each tuple is a source of its own, so that it can be taken away by itself.
      if (!isAdmin) kept.push({ ...tuple, source: keyOf(tuple) });
    });
    const graph = createGraph(model);
    const yieldIfDue = createYielder();
    for (const _ of graph.loadInParts(kept, kept.length, TUPLES_IN_PART)) await yieldIfDue();
    return graph;
  }

  async function findEnds(graph: Graph, holdings: readonly Holding[], ending: readonly EndingTuple[]): Promise<void> {
    const yieldIfDue = createYielder();
    const open = new Set(holdings);
    const times = [...new Set(ending.map(({ endsAt }) => endsAt.getTime()))].sort((one, other) => one - other);
    for (const time of times.slice(0, MAX_ENDS)) {
      for (const tuple of ending) if (tuple.endsAt.getTime() === time) graph.replaceSource(keyOf(tuple), []);
      for (const holding of open) {
        await yieldIfDue();
        if (check(graph, { user: holding.subject, ...holding.asked })) continue;
        holding.endsAt = new Date(time);
        open.delete(holding);
      }
    }
    const unseen = times[MAX_ENDS];
    if (unseen !== undefined) for (const holding of open) holding.endsAt = new Date(unseen);
  }

  async function withNames({ kubernetes }: ReviewedCluster, holdings: readonly Holding[]): Promise<Binding[]> {
    const { username = 'login', prefix = '' } = kubernetes;
    const ids = [...new Set(holdings.map(({ subject }) => principalOfSubject(subject)))];
    const names = await store.usernames(ids, username);
    return holdings.flatMap(({ subject, relation, namespaces, endsAt }) => {
      const name = names.get(principalOfSubject(subject));
      return name === undefined ? [] : [{ user: prefix + name, relation, namespaces, expiresAt: endsAt }];
    });
  }
}

function holdingsIn(graph: Graph, cluster: string): Holding[] {
  const whole = KUBERNETES_RELATIONS.flatMap((relation) =>
    holdersOf(graph, { relation: everywhere(relation), object: cluster }, relation, null),
  );
  const places = [cluster, ...statedAbout(graph, cluster, 'set')];
  const assignments = places.flatMap((place) => statedAbout(graph, place, 'namespaced_assignment'));
  const some = assignments.flatMap((assignment) => {
    const names = (relation: string) =>
      statedAbout(graph, assignment, relation).map((one) => one.slice('namespace:'.length));
    const namespaces = [...names('namespace'), ...names('namespace_prefix').map((prefix) => `${prefix}*`)];
    return KUBERNETES_RELATIONS.flatMap((relation) => {
      const given = IN_NAMESPACES.get(relation)?.given ?? '';
      return holdersOf(graph, { relation: given, object: assignment }, relation, namespaces);
    });
  });
  return [...whole, ...some];
}

function holdersOf(
  graph: Graph,
  asked: Holding['asked'],
  relation: KubernetesRelation,
  namespaces: readonly string[] | null,
): Holding[] {
  const candidates = ['user', 'robot_ac'].flatMap((filter) => [...possibleUsers(graph, { ...asked, filter })]);
  return candidates
    .filter((subject) => isSingle(subject) && check(graph, { user: subject, ...asked }))
    .map((subject) => ({ subject, relation, namespaces, asked, endsAt: null }));
}

function keyOf({ object, relation, user }: Pick<GraphTuple, 'object' | 'relation' | 'user'>): string {
  return `${object} ${relation} ${user}`;
}
