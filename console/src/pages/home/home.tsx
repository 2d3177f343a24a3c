import { orgPath, usePageContext } from '../../data/org.ts';
import { together, useList, useResource } from '../../data/resource.ts';
import { isSiteAdmin, me } from '../../data/session.ts';
import { Card, Phase } from '../../parts/bits.tsx';
import { LinkButton } from '../../parts/button.tsx';
import { Empty, Loading, Page, Show } from '../../parts/page.tsx';
import { Table } from '../../parts/table.tsx';
import { isChecklistHidden } from '../arrival/checklist.tsx';
import { SITE, SiteSteps } from '../arrival/site-steps.tsx';
import { Attention } from './attention.tsx';
import { clusterPath } from './cluster-path.ts';

const MAX_CLUSTERS = 10;
const MAX_UNWELL = 5;

export function HomePage() {
  const orgs = useList('GET /orgs', { query: { limit: 50 } });
  const clusters = useList('GET /user/clusters', { query: { all: 'true', limit: MAX_CLUSTERS, sort: 'name' } });
  const unwell = useList('GET /user/clusters', { query: { all: 'true', attention: 'true', limit: MAX_UNWELL } });
  const context = usePageContext();
  // Later, they are on the page of the deployment, and this one asks for nothing more than it shows.
  const isNew = orgs.data !== undefined && orgs.data.length < 2;
  const hasSiteSteps = isNew && isSiteAdmin.value && !isChecklistHidden(SITE);
  const site = useResource(hasSiteSteps ? 'GET /admin/overview' : undefined);
  const title = `Hello ${me.value?.full_name || me.value?.login}`;
  // What needs attention is above everything else. Whatever is already on the screen would make room for it.
  const all = together(orgs, clusters, unwell, context, ...(hasSiteSteps ? [site] : []));
  if (all.data === undefined && all.error === undefined) {
    return (
      <Page title={title}>
        <Loading rows={8} />
      </Page>
    );
  }
  return (
    <Page title={title} isStale={orgs.isStale || clusters.isStale}>
      <Attention clusters={unwell.data ?? []} total={unwell.total ?? 0} notices={context.data?.notices} />
      {hasSiteSteps && site.data && <SiteSteps facts={site.data} />}
      <Card title="My organizations">
        <Show of={orgs}>
          {(all) =>
            all.length === 0 ? (
              <Empty
                text="You are in no organization yet. Create one, or ask an owner to add you."
                action={<LinkButton href="/orgs/new">New organization</LinkButton>}
                command="atrium org create NAME"
              />
            ) : (
              <Table
                caption="My organizations"
                rows={all}
                keyOf={(org) => org.name}
                hrefOf={(org) => orgPath(org.name)}
                hasMore={orgs.hasMore}
                onMore={orgs.loadMore}
                columns={[
                  {
                    key: 'name',
                    title: 'Name',
                    cell: (org) => <bdi>{org.name}</bdi>,
                  },
                  { key: 'full', title: 'Full name', cell: (org) => <bdi>{org.full_name}</bdi>, isMinor: true },
                ]}
              />
            )
          }
        </Show>
      </Card>
      <Card title="My clusters">
        <Show of={clusters}>
          {(all) =>
            all.length === 0 ? (
              <Empty
                text="You see no clusters yet. Import one for yourself, or into an organization to share it."
                action={<LinkButton href="/me/clusters">Import a cluster</LinkButton>}
              />
            ) : (
              <>
                <Table
                  caption="My clusters"
                  rows={all}
                  keyOf={(cluster) => String(cluster.id)}
                  hrefOf={(cluster) => clusterPath(cluster)}
                  columns={[
                    {
                      key: 'name',
                      title: 'Name',
                      cell: (cluster) => <bdi>{cluster.displayName || cluster.name}</bdi>,
                    },
                    {
                      key: 'phase',
                      title: 'Phase',
                      cell: (cluster) => <Phase phase={cluster.status.response.phase} />,
                    },
                    { key: 'owner', title: 'Owner', cell: (cluster) => <bdi>{cluster.ownerName}</bdi> },
                    { key: 'provider', title: 'Provider', cell: (cluster) => cluster.provider, isMinor: true },
                    {
                      key: 'nodes',
                      title: 'Nodes',
                      cell: (cluster) => cluster.nodeCount,
                      isNumber: true,
                      isMinor: true,
                    },
                  ]}
                />
                {(clusters.total ?? 0) > all.length && (
                  <p class="quiet small">
                    The first {all.length} of {clusters.total} by name. Each organization lists its own.
                  </p>
                )}
              </>
            )
          }
        </Show>
      </Card>
    </Page>
  );
}
