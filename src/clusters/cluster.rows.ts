import { type Cluster, LOSABLE_PHASES, LOST_MS, SILENT_MS, UP_PHASES } from './cluster.ts';
import { type ClusterFields, FIELDS, type Field, type FieldName, type RareFieldName } from './cluster-fields.ts';

type SnakeCase<Text extends string> = Text extends `${infer First}${infer Rest}`
  ? `${First extends Lowercase<First> ? First : `_${Lowercase<First>}`}${SnakeCase<Rest>}`
  : Text;

/** Most clusters have none of these. */
type Rare = {
  readonly [Name in RareFieldName]: ClusterFields[Name] extends string ? string : ClusterFields[Name] | null;
} & {
  /** As text: a JSON number would lose digits. */
  readonly managerId: string | null;
};

/** A cluster as it is selected, for every store that reads one: `select ${CLUSTER_COLUMNS} ${CLUSTER_TABLES}`. */
export type ClusterRow = {
  readonly [Name in Exclude<FieldName, RareFieldName> as SnakeCase<Name>]: ClusterFields[Name];
} & {
  readonly id: bigint;
  readonly name: string;
  readonly uid: string;
  readonly owner_id: bigint;
  readonly owner_name: string;
  readonly phase: string;
  readonly reason: string;
  readonly message: string;
  readonly heartbeat_at: Date | null;
  readonly created_at: Date;
  readonly rare: Rare | null;
};

const RARE = FIELDS.filter(({ isRare }) => isRare);
const COMMON = FIELDS.filter(({ isRare }) => !isRare);

// Every column of a row costs the same, and ten thousand rows are read together: what is mostly unset travels as one
// column, which is null for most clusters.
const RARE_COLUMN = `case when ${RARE.map(isUnset).join(' and ')} then null
  else json_build_object(${RARE.map((field) => `'${field.name}', ${jsonOf(field)}`).join(', ')}) end as rare`;
export const CLUSTER_COLUMNS = `c.id, c.name, c.uid, c.owner_id, a.name as owner_name, c.phase, c.reason, c.message,
  c.heartbeat_at, c.created_at, ${COMMON.map((field) => `c.${columnOf(field)}`).join(', ')}, ${RARE_COLUMN}`;
export const CLUSTER_TABLES = 'from cluster c join account a on a.id = c.owner_id';

/**
 * The phase of a cluster `c` at a moment, as `statusOf` derives it: lists are filtered and counted by it before any row
 * is read. `now` is the parameter with that moment. Moments are compared in milliseconds, which is how they are read.
 */
export function shownPhase(now: string): string {
  const isSilentFor = (ms: number) =>
    `date_trunc('milliseconds', c.heartbeat_at) < ${now}::timestamptz - interval '${ms} milliseconds'`;
  return `case when c.phase in (${quoted(LOSABLE_PHASES)}) and ${isSilentFor(LOST_MS)} then 'Lost'
    when c.phase in (${quoted(UP_PHASES)}) and ${isSilentFor(SILENT_MS)} then 'NotConnected' else c.phase end`;
}

function quoted(words: readonly string[]): string {
  return words.map((word) => `'${word}'`).join(', ');
}

const NOTHING_RARE = Object.fromEntries(
  RARE.map((field) => [field.name, isText(field) ? '' : null]),
) as unknown as Rare;
const NONE: readonly string[] = [];
export const CLUSTER_UID_LENGTH = 36;

export function columnOf({ name }: Pick<Field, 'name'>): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** The stored value: nothing instead of an empty list or ID. */
export function storedValue(field: Field, value: unknown): unknown {
  if (isText(field) || field.kind === 'count' || field.kind === 'flag') return value;
  return value === 0n || (Array.isArray(value) && value.length === 0) ? null : value;
}

/** Field by field: ten thousand rows are read together, and a loop over the fields would take several times as long. */
export function toCluster(row: ClusterRow): Cluster {
  const rare = row.rare ?? NOTHING_RARE;
  return {
    id: row.id,
    name: row.name,
    displayName: row.display_name,
    uid: uidIn(row.uid),
    ownerId: row.owner_id,
    ownerName: row.owner_name,
    managerId: rare.managerId === null ? 0n : BigInt(rare.managerId),
    externalId: rare.externalId,
    provider: row.provider,
    vendor: row.vendor,
    orchestratorVersion: row.orchestrator_version,
    nodeCount: row.node_count,
    endpoint: row.endpoint,
    location: row.location,
    project: rare.project,
    infraNamespace: rare.infraNamespace,
    hubClusterName: rare.hubClusterName,
    hubClusterUid: rare.hubClusterUid,
    hubClusterOwnerName: rare.hubClusterOwnerName,
    clusterSetName: rare.clusterSetName,
    clusterManagers: rare.clusterManagers ?? NONE,
    isMonitoringCluster: row.is_monitoring_cluster,
    phase: row.phase,
    reason: row.reason,
    message: row.message,
    heartbeatAt: row.heartbeat_at,
    createdAt: row.created_at,
  };
}

/**
 * The column `uid` holds the word by which the message bus knows a cluster. It is the UID, unless another owner had
 * imported a cluster with this UID before: then it is `<uid>_<owner ID>`.
 */
export function busWord(uid: string, ownerId: bigint): string {
  return `${uid}_${ownerId}`;
}

function uidIn(word: string): string {
  return word[CLUSTER_UID_LENGTH] === '_' ? word.slice(0, CLUSTER_UID_LENGTH) : word;
}

function isText({ kind }: Field): boolean {
  return kind === 'line' || kind === 'endpoint';
}

function isUnset(field: Field): string {
  return `c.${columnOf(field)} ${isText(field) ? `= ''` : 'is null'}`;
}

function jsonOf(field: Field): string {
  return `c.${columnOf(field)}${field.kind === 'id' ? '::text' : ''}`;
}
