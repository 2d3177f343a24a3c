import type { Actor } from '../directory/audit.ts';
import type { Cluster } from '../directory/clusters.ts';
import { AppError } from '../errors.ts';
import { fault, readLine, readSet, readThingName, readUuid } from './thing-fields.ts';

export type EditableCluster = Cluster & { readonly version: number };

/** What is said about a cluster when it is imported or edited; the rest it says itself, or we know. */
export type ClusterDraft = Pick<Cluster, 'name' | 'managerId' | 'clusterManagers' | 'endpoint'> &
  Pick<Cluster, 'isMonitoringCluster' | 'nodeCount'> &
  Pick<Cluster, keyof typeof LINES>;

export type ClusterInput = { readonly [Key in keyof ClusterDraft | 'uid']?: Cluster[Key] | undefined };

export type Refusal = { readonly refused: 'name taken' | 'uid taken' };

export interface PageOf {
  readonly limit: number;
  readonly offset: number;
}

export interface ClusterStore {
  list(ownerId: bigint, name: string | undefined, page: PageOf): Promise<{ total: number; items: Cluster[] }>;
  get(ownerId: bigint, id: bigint): Promise<EditableCluster | undefined>;
  create(
    ownerId: bigint,
    uid: string,
    draft: ClusterDraft,
    actor: Actor,
  ): Promise<EditableCluster | Refusal | undefined>;
  /** `decide` sees the cluster as it is while nobody else can change it. */
  update(
    ownerId: bigint,
    id: bigint,
    decide: (current: EditableCluster) => ClusterDraft,
    actor: Actor,
  ): Promise<EditableCluster | Refusal | undefined>;
  remove(ownerId: bigint, id: bigint, decide: (current: EditableCluster) => void, actor: Actor): Promise<boolean>;
}

export type AdministeredClusters = ReturnType<typeof createAdministeredClusters>;

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
const MOST_MANAGER = 100;
const MOST_ENDPOINT = 2048;
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

/** Clusters of an organization, or of a person: brought in, described, let go. */
export function createAdministeredClusters(store: ClusterStore) {
  return { list: store.list, get, create, update, remove };

  async function get(ownerId: bigint, id: bigint): Promise<EditableCluster> {
    return settled(await store.get(ownerId, id));
  }

  async function create(ownerId: bigint, input: ClusterInput & { name: string; uid: string }, actor: Actor) {
    const uid = readUuid('uid', input.uid);
    const made = await store.create(ownerId, uid, draftOf({ ...NEW, name: '', displayName: input.name }, input), actor);
    if (made === undefined) throw new AppError('notFound', 'organization does not exist');
    return settled(made);
  }

  async function update(
    ownerId: bigint,
    id: bigint,
    input: ClusterInput,
    require: (current: EditableCluster) => void,
    actor: Actor,
  ): Promise<EditableCluster> {
    const decide = (current: EditableCluster) => {
      require(current);
      // A cluster with another UID is another cluster: what was granted about this one must not pass to it.
      if (input.uid !== undefined && readUuid('uid', input.uid) !== current.uid)
        throw fault('uid', 'uid cannot change');
      return draftOf(current, input);
    };
    return settled(await store.update(ownerId, id, decide, actor));
  }

  async function remove(ownerId: bigint, id: bigint, require: (current: EditableCluster) => void, actor: Actor) {
    if (!(await store.remove(ownerId, id, require, actor))) throw notFound();
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
    name: name === undefined ? current.name : readThingName(name),
    endpoint: endpoint === undefined ? current.endpoint : readEndpoint(endpoint),
    managerId: input.managerId ?? current.managerId,
    nodeCount: input.nodeCount ?? current.nodeCount,
    isMonitoringCluster: input.isMonitoringCluster ?? current.isMonitoringCluster,
    clusterManagers:
      clusterManagers === undefined
        ? current.clusterManagers
        : readSet(clusterManagers, (one) => readLine('clusterManagers', one, MOST_MANAGER, 1)),
  };
}

function readEndpoint(text: string): string {
  const endpoint = readLine('endpoint', text, MOST_ENDPOINT);
  if (endpoint !== '' && !ENDPOINT.test(endpoint)) {
    throw fault('endpoint', 'endpoint must be an http or https URL, or a host with or without a port');
  }
  return endpoint;
}

/** As the caller wrote it. */
function wireName(key: string): string {
  return key.replace(/(?:Id|Uid)$/, (end) => end.toUpperCase());
}

function settled(outcome: EditableCluster | Refusal | undefined): EditableCluster {
  if (outcome === undefined) throw notFound();
  if (!('refused' in outcome)) return outcome;
  if (outcome.refused === 'name taken') throw fault('name', 'name is taken by another cluster of the same owner');
  throw fault('uid', 'uid is taken: the cluster has been imported already');
}

function notFound(): AppError {
  return new AppError('notFound', 'cluster does not exist');
}
