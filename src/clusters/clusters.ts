import type { VisibleClusters } from '../authz/visible-clusters.ts';
import { AppError, invalidField } from '../base/errors.ts';
import { readLine, readResourceName, readSet, readUuid } from '../base/fields.ts';
import type { Page, PageRequest } from '../base/page.ts';
import type { Actor } from '../changes/audit-entry.ts';
import type { Person } from '../identity/callers.ts';
import type { Cluster } from './cluster.ts';

export type EditableCluster = Cluster & { readonly version: number };

/** What is said about a cluster when it is imported or edited; the rest it says itself, or we know. */
export type ClusterDraft = Pick<Cluster, 'name' | 'managerId' | 'clusterManagers' | 'endpoint'> &
  Pick<Cluster, 'isMonitoringCluster' | 'nodeCount'> &
  Pick<Cluster, keyof typeof LINES>;

export type ClusterInput = { readonly [Key in keyof ClusterDraft | 'uid']?: Cluster[Key] | undefined };

export type Rejection = { readonly refused: 'name taken' | 'uid taken' };

export interface ClusterStore {
  list(ownerId: bigint, name: string | undefined, request: PageRequest): Promise<Page<Cluster>>;
  ownedBy(accountId: bigint): Promise<Cluster[]>;
  withIds(ids: readonly bigint[]): Promise<Cluster[]>;
  get(ownerId: bigint, id: bigint): Promise<EditableCluster | undefined>;
  create(
    ownerId: bigint,
    uid: string,
    draft: ClusterDraft,
    actor: Actor,
  ): Promise<EditableCluster | Rejection | undefined>;
  /** `decide` sees the cluster as it is while nobody else can change it. */
  update(
    ownerId: bigint,
    id: bigint,
    decide: (current: EditableCluster) => ClusterDraft,
    actor: Actor,
  ): Promise<EditableCluster | Rejection | undefined>;
  remove(ownerId: bigint, id: bigint, decide: (current: EditableCluster) => void, actor: Actor): Promise<boolean>;
}

export type Clusters = ReturnType<typeof createClusters>;

/** Fields of one line, and how long each may be. */
const LINES = {
  displayName: 255,
  externalId: 255,
  provider: 100,
  vendor: 100,
  orchestratorVersion: 100,
  location: 255,
  project: 255,
  infraNamespace: 253,
  hubClusterName: 255,
  hubClusterUid: 100,
  hubClusterOwnerName: 255,
  clusterSetName: 255,
} as const;
const LINE_KEYS = Object.keys(LINES) as (keyof typeof LINES)[];
const MAX_MANAGER = 100;
const MAX_ENDPOINT = 2048;
/** An address of a web server, or of a host. Pages turn it into a link, so no other scheme passes. */
const ENDPOINT = /^(?:https?:\/\/)?(?:\[[0-9a-f:.]+\]|[0-9a-z._-]+)(?::\d{1,5})?(?:\/\S*)?$/i;

const NEW: Omit<ClusterDraft, 'name' | 'displayName'> = {
  managerId: 0n,
  externalId: '',
  provider: 'Generic',
  vendor: '',
  orchestratorVersion: '',
  nodeCount: 0,
  endpoint: '',
  location: '',
  project: '',
  infraNamespace: '',
  hubClusterName: '',
  hubClusterUid: '',
  hubClusterOwnerName: '',
  clusterSetName: '',
  clusterManagers: [],
  isMonitoringCluster: false,
};

/** Clusters of an organization or a user. */
export function createClusters(store: ClusterStore, visible: Pick<VisibleClusters, 'visibleTo'>) {
  return { list: store.list, listFor, get, create, update, remove };

  /** The user's own clusters, or with `all` every cluster that they can view; by ID. */
  async function listFor(person: Pick<Person, 'id' | 'isAdmin' | 'organizations'>, all: boolean): Promise<Cluster[]> {
    return all ? await store.withIds(await visible.visibleTo(person)) : await store.ownedBy(person.id);
  }

  async function get(ownerId: bigint, id: bigint): Promise<EditableCluster> {
    return settled(await store.get(ownerId, id));
  }

  async function create(ownerId: bigint, input: ClusterInput & { name: string; uid: string }, actor: Actor) {
    const uid = readUuid('uid', input.uid);
    const outcome = await store.create(
      ownerId,
      uid,
      draftOf({ ...NEW, name: '', displayName: input.name }, input),
      actor,
    );
    if (outcome === undefined) throw new AppError('notFound', 'organization does not exist');
    return settled(outcome);
  }

  async function update(
    ownerId: bigint,
    id: bigint,
    input: ClusterInput,
    precondition: (current: EditableCluster) => void,
    actor: Actor,
  ): Promise<EditableCluster> {
    const decide = (current: EditableCluster) => {
      precondition(current);
      // A cluster with another UID is another cluster: what was granted about this one must not pass to it.
      if (input.uid !== undefined && readUuid('uid', input.uid) !== current.uid)
        throw invalidField('uid', 'uid cannot change');
      return draftOf(current, input);
    };
    return settled(await store.update(ownerId, id, decide, actor));
  }

  async function remove(ownerId: bigint, id: bigint, precondition: (current: EditableCluster) => void, actor: Actor) {
    if (!(await store.remove(ownerId, id, precondition, actor))) throw notFound();
  }
}

/** The cluster that the input asks for: what is left out stays. */
function draftOf(current: ClusterDraft, input: ClusterInput): ClusterDraft {
  const { name, endpoint, clusterManagers } = input;
  const lines = LINE_KEYS.map((key) => {
    const said = input[key];
    return [key, said === undefined ? current[key] : readLine(wireName(key), said, LINES[key])];
  });
  return {
    ...(Object.fromEntries(lines) as Pick<ClusterDraft, keyof typeof LINES>),
    name: name === undefined ? current.name : readResourceName(name),
    endpoint: endpoint === undefined ? current.endpoint : readEndpoint(endpoint),
    managerId: input.managerId ?? current.managerId,
    nodeCount: input.nodeCount ?? current.nodeCount,
    isMonitoringCluster: input.isMonitoringCluster ?? current.isMonitoringCluster,
    clusterManagers:
      clusterManagers === undefined
        ? current.clusterManagers
        : readSet(clusterManagers, (one) => readLine('clusterManagers', one, MAX_MANAGER, 1)),
  };
}

function readEndpoint(text: string): string {
  const endpoint = readLine('endpoint', text, MAX_ENDPOINT);
  if (endpoint !== '' && !ENDPOINT.test(endpoint)) {
    throw invalidField('endpoint', 'endpoint must be an http or https URL, or a host with or without a port');
  }
  return endpoint;
}

/** As the caller wrote it. */
function wireName(key: string): string {
  return key.replace(/(?:Id|Uid)$/, (end) => end.toUpperCase());
}

function settled(outcome: EditableCluster | Rejection | undefined): EditableCluster {
  if (outcome === undefined) throw notFound();
  if (!('refused' in outcome)) return outcome;
  if (outcome.refused === 'name taken')
    throw invalidField('name', 'name is taken by another cluster of the same owner');
  throw invalidField('uid', 'uid is taken: the cluster has been imported already');
}

function notFound(): AppError {
  return new AppError('notFound', 'cluster does not exist');
}
