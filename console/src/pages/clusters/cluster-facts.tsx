import { Card, type Fact, Facts } from '../../parts/bits.tsx';
import { Copy } from '../../parts/copy.tsx';
import { When } from '../../parts/when.tsx';
import type { Cluster } from './cluster-fields.tsx';
import './clusters.css';

/** What is known about a cluster. What most clusters do not have is shown only if it is set. */
export function ClusterFacts({ cluster }: { cluster: Cluster }) {
  return (
    <Card>
      <Facts
        of={[
          { name: 'Name', value: <Copy text={cluster.name} label="Copy the name" /> },
          { name: 'ID', value: <Copy text={String(cluster.id)} label="Copy the ID" /> },
          { name: 'UID', value: <Copy text={cluster.uid} label="Copy the UID" /> },
          { name: 'Endpoint', value: copied(cluster.endpoint, 'Copy the endpoint') },
          { name: 'Provider', value: <bdi>{cluster.provider}</bdi> },
          { name: 'Version', value: cluster.orchestratorVersion },
          { name: 'Nodes', value: String(cluster.nodeCount) },
          { name: 'Location', value: text(cluster.location) },
          { name: 'Last heartbeat', value: <When at={cluster.heartbeatAt} /> },
          { name: 'Imported', value: <When at={cluster.createdAt} /> },
          ...rareFacts(cluster),
        ]}
      />
    </Card>
  );
}

function rareFacts(cluster: Cluster): readonly Fact[] {
  const all: readonly (readonly [name: string, value: string])[] = [
    ['Vendor', cluster.vendor],
    ['Project', cluster.project],
    ['Cluster set', cluster.clusterSetName],
    ['Managed by', cluster.clusterManagers.join(', ')],
    ['Manager ID', cluster.managerID === 0n ? '' : String(cluster.managerID)],
    ['External ID', cluster.externalID],
    ['Namespace at the provider', cluster.infraNamespace],
    ['Hub cluster', cluster.hubClusterName],
    ['Hub cluster UID', cluster.hubClusterUID],
    ['Owner of the hub cluster', cluster.hubClusterOwnerName],
    ['Monitors others', cluster.isMonitoringCluster ? 'yes' : ''],
  ];
  return all.filter(([, value]) => value !== '').map(([name, value]) => ({ name, value: text(value) }));
}

function text(value: string) {
  return value === '' ? '' : <bdi>{value}</bdi>;
}

function copied(value: string, label: string) {
  return value === '' ? '' : <Copy text={value} label={label} />;
}
