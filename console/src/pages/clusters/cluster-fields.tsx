import { type Signal, useSignal } from '@preact/signals';
import { useMemo } from 'preact/hooks';
import type { Answer } from '../../../../client/client.ts';
import type { Action } from '../../data/action.ts';
import { TextField } from '../../parts/field.tsx';

export type Cluster = Answer<'GET /clusters/{id}'>;

const TEXTS = [
  { name: 'name', label: 'Name', hint: undefined },
  { name: 'displayName', label: 'Display name', hint: 'Shown instead of the name, in any script.' },
  { name: 'provider', label: 'Provider', hint: 'Such as GKE, EKS, AKS or Generic.' },
  { name: 'vendor', label: 'Vendor', hint: undefined },
  { name: 'location', label: 'Location', hint: undefined },
  { name: 'project', label: 'Project', hint: undefined },
  { name: 'endpoint', label: 'Endpoint', hint: 'Address of its API server.' },
  { name: 'orchestratorVersion', label: 'Version', hint: 'Its agent reports it too.' },
  {
    name: 'clusterSetName',
    label: 'Cluster set',
    hint: 'Roles that are assigned on a set count on all of its clusters.',
  },
] as const;

type TextName = (typeof TEXTS)[number]['name'];
export type ClusterValues = Readonly<Record<TextName | 'nodeCount', Signal<string>>>;
export const CLUSTER_FIELDS = [...TEXTS.map(({ name }) => name), 'nodeCount', 'uid'] as const;

/** The details of a cluster, while they are being edited. */
export function useClusterFields(cluster?: Cluster): ClusterValues {
  const texts = TEXTS.map(({ name }) => [name, useSignal(cluster?.[name] ?? '')] as const);
  const nodeCount = useSignal(cluster ? String(cluster.nodeCount) : '');
  return useMemo(() => ({ ...(Object.fromEntries(texts) as ClusterValues), nodeCount }), []);
}

/** What was filled in or, of a cluster that exists, only what differs: other users' changes of the rest stay. */
export function bodyOf(values: ClusterValues, cluster?: Cluster) {
  const texts = TEXTS.map(({ name }) => [name, values[name].value] as const).filter(
    ([name, value]) => value !== (cluster?.[name] ?? ''),
  );
  const nodes = values.nodeCount.value;
  const hasNodes = nodes !== '' && nodes !== String(cluster?.nodeCount ?? '');
  return {
    ...(Object.fromEntries(texts) as Partial<Record<TextName, string>>),
    ...(hasNodes && { nodeCount: Number(nodes) }),
  };
}

interface ClusterFieldsProps {
  readonly values: ClusterValues;
  readonly action: Action<[]>;
}

export function ClusterName({ values, action }: ClusterFieldsProps) {
  return (
    <TextField
      label="Name"
      hint="Unique in the organization; used by commands."
      value={values.name}
      isRequired
      autoFocus
      error={action.fieldError('name')}
    />
  );
}

/** Everything but the name. */
export function ClusterFields({ values, action }: ClusterFieldsProps) {
  return (
    <>
      {TEXTS.filter(({ name }) => name !== 'name').map(({ name, label, hint }) => (
        <TextField key={name} label={label} hint={hint} value={values[name]} error={action.fieldError(name)} />
      ))}
      <TextField label="Nodes" type="number" value={values.nodeCount} error={action.fieldError('nodeCount')} />
    </>
  );
}
