import { orgPath } from '../../data/org.ts';
import { useResource } from '../../data/resource.ts';
import { Card } from '../../parts/bits.tsx';
import { Entries } from '../../parts/entries.tsx';
import { Show } from '../../parts/page.tsx';
import type { Cluster } from './cluster-fields.tsx';

const SHOWN = 20;

/** The latest entries of the audit log about the cluster. */
export function ClusterRecord({ org, cluster }: { org: string; cluster: Cluster }) {
  const object = `cluster:${cluster.id}`;
  const log = useResource('GET /orgs/{org}/audit', { path: { org }, query: { object, limit: SHOWN } });
  return (
    <Card
      title="Latest entries"
      actions={<a href={orgPath(org, `/audit?${new URLSearchParams({ object })}`)}>All entries about it</a>}
    >
      <Show of={log}>
        {({ items }) => <Entries org={org} of={items} empty="Nothing about this cluster is on record." />}
      </Show>
    </Card>
  );
}
