import { useResource } from '../../data/resource.ts';
import { Empty, Show } from '../../parts/page.tsx';
import { Table } from '../../parts/table.tsx';
import { When } from '../../parts/when.tsx';
import type { Cluster } from './cluster-fields.tsx';

const MAX_SHOWN = 200;

/** What the cluster reported about its resources over the message bus. Only site administrators may ask. */
export function ClusterHistory({ cluster }: { cluster: Cluster }) {
  const history = useResource('GET /user/bus/cluster-resource-history', {
    query: { cluster: cluster.uid, limit: MAX_SHOWN },
  });
  return (
    <Show of={history}>
      {({ items, cursor }) =>
        items.length === 0 ? (
          <Empty text="The cluster has reported no resources over the message bus." />
        ) : (
          <div class="stack">
            <Table
              caption="Resources that the cluster reported"
              rows={items}
              keyOf={(item) => item.key}
              columns={[
                { key: 'key', title: 'Resource', cell: (item) => <bdi class="cut">{item.key}</bdi> },
                { key: 'reports', title: 'Reports', cell: (item) => item.values.length, isNumber: true },
                { key: 'version', title: 'Version', cell: (item) => item.values.at(-1)?.version, isMinor: true },
                { key: 'seen', title: 'Last seen', cell: (item) => <When at={item.lastSeen} /> },
              ]}
            />
            {cursor !== undefined && <p class="quiet">{`The first ${MAX_SHOWN} are shown. The API lists all.`}</p>}
          </div>
        )
      }
    </Show>
  );
}
