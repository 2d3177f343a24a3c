import { AppError, invalidField } from '../base/errors.ts';
import { readLineField, readResourceName, readSet, readUuid } from '../base/fields.ts';
import type { Actor } from '../changes/audit-entry.ts';
import type { Once } from '../changes/write.ts';
import type { Cluster } from './cluster.ts';
import { type ClusterFields, type Field, mapFields, NEW_CLUSTER } from './cluster-fields.ts';
import {
  accessOf,
  type KubernetesAccess,
  type KubernetesInput,
  NO_ACCESS,
  type ReportedAccess,
} from './kubernetes-access.ts';
import { changesAccess, type KubernetesGuard } from './kubernetes-guard.ts';
import type { MovingGuard } from './moving-guard.ts';

export type EditableCluster = Cluster &
  KubernetesAccess & { readonly version: number; readonly reported: ReportedAccess };

/** What is said about a cluster when it is imported or edited; the rest it reports itself, or we know it. */
export interface ClusterDraft extends ClusterFields, KubernetesAccess {
  readonly name: string;
}

export type ClusterInput = KubernetesInput & {
  readonly [Key in keyof ClusterFields | 'name' | 'uid']?: Cluster[Key] | undefined;
};

export type Rejection = { readonly rejected: 'name taken' | 'uid taken' };

export interface ClusterStore {
  get(ownerId: bigint, id: bigint): Promise<EditableCluster | undefined>;
  /** Otherwise the owner is a user, whose clusters no other user reaches. */
  isOrganization(ownerId: bigint): Promise<boolean>;
  create(
    ownerId: bigint,
    uid: string,
    draft: ClusterDraft,
    actor: Actor,
    once?: Once<EditableCluster>,
  ): Promise<EditableCluster | Rejection | undefined>;
  /** `decide` sees the cluster as it is while no other transaction can change it. */
  update(
    ownerId: bigint,
    id: bigint,
    decide: (current: EditableCluster) => ClusterDraft,
    actor: Actor,
  ): Promise<EditableCluster | Rejection | undefined>;
  remove(ownerId: bigint, id: bigint, decide: (current: EditableCluster) => void, actor: Actor): Promise<boolean>;
}

export type Clusters = ReturnType<typeof createClusters>;

/** An address of a web server, or of a host. Pages turn it into a link, so no other scheme passes. */
const ENDPOINT = /^(?:https?:\/\/)?(?:\[[0-9a-f:.]+\]|[0-9a-z._-]+)(?::\d{1,5})?(?:\/\S*)?$/i;

/** Clusters of an organization or a user. */
export function createClusters(store: ClusterStore, guardMoving: MovingGuard, guardKubernetes: KubernetesGuard) {
  return { get, create, update, remove };

  async function get(ownerId: bigint, id: bigint): Promise<EditableCluster> {
    return settled(await store.get(ownerId, id));
  }

  async function create(
    ownerId: bigint,
    input: ClusterInput & { name: string; uid: string },
    actor: Actor,
    once?: Once<EditableCluster>,
  ): Promise<EditableCluster> {
    const uid = readUuid('uid', input.uid);
    const blank = { ...NEW_CLUSTER, ...NO_ACCESS, name: '', displayName: input.name };
    const draft = draftOf(blank, input);
    const isGoverned = changesAccess(blank, draft);
    if (draft.clusterSetName !== '' || isGoverned) {
      const isOrganization = await store.isOrganization(ownerId);
      if (isGoverned) await guardKubernetes(actor, { id: ownerId, isOrganization }, undefined, draft);
      if (isOrganization && draft.clusterSetName !== '') {
        await guardMoving(actor, ownerId, undefined, draft.clusterSetName);
      }
    }
    const outcome = await store.create(ownerId, uid, draft, actor, once);
    if (outcome === undefined)
      throw new AppError('notFound', 'organization does not exist', { reason: 'organization_not_found' });
    return settled(outcome);
  }

  async function update(
    ownerId: bigint,
    id: bigint,
    input: ClusterInput,
    precondition: (current: EditableCluster) => void,
    actor: Actor,
  ): Promise<EditableCluster> {
    const present = await get(ownerId, id);
    const wanted = draftOf(present, input);
    const isMoved = wanted.clusterSetName !== present.clusterSetName;
    const isGoverned = changesAccess(present, wanted);
    const isOrganization = (isMoved || isGoverned) && (await store.isOrganization(ownerId));
    if (isGoverned) await guardKubernetes(actor, { id: ownerId, isOrganization }, id, wanted);
    if (isMoved && isOrganization) await guardMoving(actor, ownerId, id, wanted.clusterSetName);
    const decide = (current: EditableCluster) => {
      precondition(current);
      // Another request has moved it since then, and this one would move it back.
      const next = draftOf(current, input);
      const isElsewhere = !isMoved && next.clusterSetName !== current.clusterSetName;
      if (isElsewhere || (!isGoverned && changesAccess(current, next))) {
        throw new AppError('stale', 'the cluster has changed at the same time: read it again');
      }
      // A cluster with another UID is another cluster: what was granted about this one must not pass to it.
      if (input.uid !== undefined && readUuid('uid', input.uid) !== current.uid)
        throw invalidField('uid', 'uid cannot be changed');
      return next;
    };
    return settled(await store.update(ownerId, id, decide, actor));
  }

  async function remove(ownerId: bigint, id: bigint, precondition: (current: EditableCluster) => void, actor: Actor) {
    if (!(await store.remove(ownerId, id, precondition, actor))) throw notFound();
  }
}

/** The cluster that the input asks for: a field that is left out stays. */
function draftOf(current: ClusterDraft, input: ClusterInput): ClusterDraft {
  const { name } = input;
  return {
    name: name === undefined ? current.name : readResourceName(name),
    ...accessOf(current, input),
    ...mapFields((field) => {
      const value = input[field.name];
      return value === undefined ? current[field.name] : readField(field, value);
    }),
  };
}

function readField({ kind, wireName, max = 0 }: Field, value: unknown): unknown {
  if (kind === 'line') return readLineField(wireName, value as string, max);
  if (kind === 'endpoint') return readEndpoint(wireName, value as string, max);
  if (kind === 'lines') return readSet(value as readonly string[], (one) => readLineField(wireName, one, max, 1));
  return value;
}

function readEndpoint(field: string, text: string, max: number): string {
  const endpoint = readLineField(field, text, max);
  if (endpoint !== '' && !ENDPOINT.test(endpoint)) {
    throw invalidField(field, `${field} must be an http or https URL, or a host with or without a port`);
  }
  return endpoint;
}

function settled(outcome: EditableCluster | Rejection | undefined): EditableCluster {
  if (outcome === undefined) throw notFound();
  if (!('rejected' in outcome)) return outcome;
  if (outcome.rejected === 'name taken')
    throw invalidField('name', 'name is taken by another cluster of the same owner', 'name_taken');
  throw invalidField('uid', 'uid is taken: the cluster has been imported already');
}

function notFound(): AppError {
  return new AppError('notFound', 'cluster does not exist', { reason: 'cluster_not_found' });
}
