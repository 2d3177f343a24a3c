import Type, { type TSchema } from 'typebox';
import { Int64, named, plainId, Timestamp, timestamp } from '../http/wire/schemas.ts';
import { ageOf, type Cluster, type ClusterStatus, PHASES, statusOf } from './cluster.ts';
import {
  type ClusterFields,
  type DetailFieldName,
  FIELDS,
  type Field,
  type FieldName,
  type WireName,
} from './cluster-fields.ts';
import type { EditableCluster } from './clusters.ts';
import { KUBERNETES_AUTHS, KUBERNETES_USERNAMES } from './kubernetes-access.ts';

const SCHEMAS: Readonly<Record<Field['kind'], () => TSchema>> = {
  line: () => Type.String(),
  endpoint: () => Type.String(),
  id: () => Int64,
  count: () => Type.Integer(),
  flag: () => Type.Boolean(),
  lines: () => Type.Array(Type.String()),
};
const DETAILS = FIELDS.filter(({ isDetail }) => isDetail);

/** A cluster as clients of this API family know it: every key is always there, and no others. */
export const ClusterInfo = named(
  'ClusterInfo',
  Type.Object({
    id: Int64,
    displayName: Type.String(),
    name: Type.String(),
    uid: Type.String({ description: 'UUID of its kube-system namespace.' }),
    ownerID: Int64,
    ownerName: Type.String(),
    ...shown(({ name, isDetail }) => name !== 'displayName' && !isDetail),
    createdAt: Timestamp,
    age: Type.String({ description: 'Time since creation, such as 43m, 8d or 6mo.' }),
    status: Type.Object({
      response: Type.Object({
        phase: Type.String({ enum: [...PHASES] }),
        reason: Type.String(),
        message: Type.String(),
      }),
    }),
  }),
);

/** What administration shows in addition. */
export const ClusterDetails = named(
  'Cluster',
  Type.Object({
    ...ClusterInfo.properties,
    ...shown(({ isDetail }) => isDetail === true),
    heartbeatAt: Type.Unsafe<string>({
      ...Timestamp,
      description: 'Time of the last heartbeat. 1970-01-01T00:00:00Z if there was none.',
    }),
  }),
);

/** How it is reached and governed, which only the answers about one cluster have. */
export const GovernedCluster = named(
  'GovernedCluster',
  Type.Object({
    ...ClusterDetails.properties,
    caBundle: Type.String({ description: 'PEM certificates that its API server is verified with. Empty if unknown.' }),
    kubernetes: named(
      'KubernetesSettings',
      Type.Object({
        auth: Type.String({
          enum: [...KUBERNETES_AUTHS],
          description:
            'webhook: its API server asks about every request. agent: an agent keeps its bindings true. none: neither.',
        }),
        username: Type.Optional(
          Type.String({
            enum: [...KUBERNETES_USERNAMES],
            description: 'What bindings call users. By default, their login.',
          }),
        ),
        prefix: Type.Optional(Type.String({ description: 'What bindings have before each name.' })),
      }),
    ),
    reported: Type.Optional(
      Type.Object(
        {
          endpoint: Type.Optional(Type.String({ description: 'The address that the cluster reports.' })),
          caBundle: Type.Optional(Type.String({ description: 'The certificates that the cluster reports.' })),
        },
        {
          description:
            'What its agent reports that differs from what is recorded. An administrator of the cluster can accept it.',
        },
      ),
    ),
  }),
);

function shown(isPart: (field: Field) => boolean): Record<string, TSchema> {
  return Object.fromEntries(FIELDS.filter(isPart).map((field) => [field.wireName, SCHEMAS[field.kind]()]));
}

type ShownFields = {
  [Name in Exclude<FieldName, DetailFieldName> as WireName<Name>]: ClusterFields[Name] extends bigint
    ? number | bigint
    : ClusterFields[Name];
};

interface ClusterView extends ShownFields {
  readonly id: number | bigint;
  readonly name: string;
  readonly uid: string;
  readonly ownerID: number | bigint;
  readonly ownerName: string;
  readonly createdAt: string;
  readonly age: string;
  readonly status: { readonly response: ClusterStatus };
}

/** Key by key: spreading ten thousand clusters would cost more than reading them from the database. */
export function presentCluster(cluster: Cluster, now: Date): ClusterView {
  return {
    id: plainId(cluster.id),
    displayName: cluster.displayName,
    name: cluster.name,
    uid: cluster.uid,
    ownerID: plainId(cluster.ownerId),
    ownerName: cluster.ownerName,
    managerID: plainId(cluster.managerId),
    externalID: cluster.externalId,
    provider: cluster.provider,
    vendor: cluster.vendor,
    orchestratorVersion: cluster.orchestratorVersion,
    nodeCount: cluster.nodeCount,
    endpoint: cluster.endpoint,
    location: cluster.location,
    project: cluster.project,
    infraNamespace: cluster.infraNamespace,
    hubClusterName: cluster.hubClusterName,
    hubClusterUID: cluster.hubClusterUid,
    clusterSetName: cluster.clusterSetName,
    clusterManagers: cluster.clusterManagers,
    isMonitoringCluster: cluster.isMonitoringCluster,
    createdAt: timestamp(cluster.createdAt),
    age: ageOf(cluster.createdAt, now),
    status: { response: statusOf(cluster, now) },
  };
}

export function presentClusterDetails(cluster: Cluster, now: Date) {
  const details = DETAILS.map(({ wireName, name }) => [wireName, cluster[name]]);
  const heartbeatAt = timestamp(cluster.heartbeatAt);
  return { ...presentCluster(cluster, now), ...Object.fromEntries(details), heartbeatAt };
}

export function presentGoverned(cluster: EditableCluster, now: Date) {
  const { caBundle, kubernetes, reported } = cluster;
  const different = {
    ...(reported.endpoint !== '' && reported.endpoint !== cluster.endpoint && { endpoint: reported.endpoint }),
    ...(reported.caBundle !== '' && reported.caBundle !== caBundle && { caBundle: reported.caBundle }),
  };
  const isDifferent = Object.keys(different).length > 0;
  return { ...presentClusterDetails(cluster, now), caBundle, kubernetes, ...(isDifferent && { reported: different }) };
}
