interface ClusterField {
  readonly kind: 'line' | 'endpoint' | 'id' | 'count' | 'flag' | 'lines';
  /** The maximum length of a line, or the maximum of a count. */
  readonly max?: number;
  readonly initial?: string;
  readonly description?: string;
  /** Unset for most clusters, so all such fields are read from the database as one column. */
  readonly isRare?: true;
  /** Not part of the cluster that the specification describes: shown by administration only. */
  readonly isDetail?: true;
}

/**
 * What can be recorded about a cluster, besides its name. Everything else about these fields is derived from here
 * (columns, types, validation, OpenAPI, audit entries). A column has the name of its field, in snake case.
 */
export const CLUSTER_FIELDS = {
  displayName: { kind: 'line', max: 255 },
  managerId: { kind: 'id', isRare: true },
  externalId: { kind: 'line', max: 255, isRare: true },
  provider: {
    kind: 'line',
    max: 100,
    initial: 'Generic',
    description: 'Any text, such as AKS, EKS, GKE or Generic.',
  },
  vendor: { kind: 'line', max: 100 },
  orchestratorVersion: { kind: 'line', max: 100 },
  nodeCount: { kind: 'count', max: 1_000_000 },
  endpoint: { kind: 'endpoint', max: 2048 },
  location: { kind: 'line', max: 255 },
  project: { kind: 'line', max: 255, isRare: true },
  infraNamespace: { kind: 'line', max: 253, isRare: true },
  hubClusterName: { kind: 'line', max: 255, isRare: true },
  hubClusterUid: { kind: 'line', max: 100, isRare: true },
  hubClusterOwnerName: { kind: 'line', max: 255, isRare: true, isDetail: true },
  clusterSetName: { kind: 'line', max: 255, isRare: true },
  clusterManagers: { kind: 'lines', max: 100, isRare: true },
  isMonitoringCluster: { kind: 'flag' },
} as const satisfies Readonly<Record<string, ClusterField>>;

type Fields = typeof CLUSTER_FIELDS;
export type FieldName = keyof Fields;
type NamesWhere<Condition> = { [Name in FieldName]: Fields[Name] extends Condition ? Name : never }[FieldName];
export type RareFieldName = NamesWhere<{ isRare: true }>;
export type DetailFieldName = NamesWhere<{ isDetail: true }>;

interface ValueOf {
  readonly line: string;
  readonly endpoint: string;
  /** 0 if no user is named. */
  readonly id: bigint;
  readonly count: number;
  readonly flag: boolean;
  readonly lines: readonly string[];
}
export type ClusterFields = { readonly [Name in FieldName]: ValueOf[Fields[Name]['kind']] };

/** As callers write it: `managerID`. */
export type WireName<Name extends string> = Name extends `${infer Start}Id`
  ? `${Start}ID`
  : Name extends `${infer Start}Uid`
    ? `${Start}UID`
    : Name;

const EMPTY: ValueOf = { line: '', endpoint: '', id: 0n, count: 0, flag: false, lines: [] };

export const FIELDS = Object.entries(CLUSTER_FIELDS).map(([name, field]: [string, ClusterField]) => ({
  name: name as FieldName,
  wireName: wireNameOf(name),
  empty: EMPTY[field.kind],
  ...field,
}));
export type Field = (typeof FIELDS)[number];

/** The fields of a cluster about which nothing is known yet. */
export const NEW_CLUSTER = mapFields(({ initial, empty }) => initial ?? empty);

/** Reads the value of each field; the values must have the type of their field. */
export function mapFields(read: (field: Field) => unknown): ClusterFields {
  return Object.fromEntries(FIELDS.map((field) => [field.name, read(field)])) as unknown as ClusterFields;
}

function wireNameOf(name: string): string {
  return name.replace(/(?:Id|Uid)$/, (end) => end.toUpperCase());
}
