import { useQueryFields } from '../../data/address.ts';
import { unlessEmpty, useKept, useSettled } from '../../data/filters.ts';
import { orgPath, useOrg } from '../../data/org.ts';
import { useList } from '../../data/resource.ts';
import { Phase } from '../../parts/bits.tsx';
import { Button, LinkButton } from '../../parts/button.tsx';
import { SelectField, TextField } from '../../parts/field.tsx';
import { Empty, Page, Show } from '../../parts/page.tsx';
import { Table } from '../../parts/table.tsx';
import { When } from '../../parts/when.tsx';
import { PHASES, titleOf } from './cluster-words.ts';

const PROVIDERS = ['AKS', 'EKS', 'GKE', 'Generic'];
const ATTENTION = 'attention';
type Sort = 'name' | 'heartbeat' | 'nodes' | 'created';

export function ClustersPage() {
  const { org, whyNot, question } = useOrg();
  const { q, phase, provider, sort, order } = useQueryFields({
    q: '',
    phase: '',
    provider: '',
    sort: 'name',
    order: '',
  });
  const query = {
    q: unlessEmpty(useSettled(q.value)),
    phase: phase.value === ATTENTION ? undefined : (unlessEmpty(phase.value) as (typeof PHASES)[number] | undefined),
    attention: phase.value === ATTENTION ? ('true' as const) : undefined,
    provider: unlessEmpty(provider.value),
    sort: sort.value as Sort,
    order: order.value === 'desc' ? ('desc' as const) : undefined,
    limit: 50,
  };
  const clusters = useKept(useList('GET /orgs/{org}/clusters', { path: { org }, query }), org);
  const isFiltered = q.value !== '' || phase.value !== '' || provider.value !== '';
  const clear = () => {
    q.value = '';
    phase.value = '';
    provider.value = '';
  };
  const cannotImport = whyNot('can_import_clusters', 'import clusters');
  const create = cannotImport ? (
    <Button kind="main" icon="plus" whyNot={cannotImport}>
      Import cluster
    </Button>
  ) : (
    <LinkButton kind="main" icon="plus" href={orgPath(org, '/clusters/import')}>
      Import cluster
    </LinkButton>
  );
  return (
    <Page title="Clusters" within={org} isStale={clusters.isStale} actions={<span data-key="n">{create}</span>}>
      <Show of={clusters} whyNot={question('can_view_clusters', 'see the clusters')}>
        {(all) =>
          all.length === 0 && !isFiltered ? (
            <Empty
              text="There are no clusters yet. Import one, and start its agent with a robot token so that it reports."
              action={create}
              command={`atrium cluster import NAME --uid UID --org ${org}`}
            />
          ) : (
            <div class="stack">
              <div class="filters" data-filter>
                <TextField label="Search" type="search" value={q} placeholder="Name or UID" />
                <SelectField
                  label="Phase"
                  value={phase}
                  choices={[
                    { value: '', label: 'Any phase' },
                    { value: ATTENTION, label: 'Needs attention' },
                    ...PHASES.map((one) => ({ value: one, label: one })),
                  ]}
                />
                <SelectField
                  label="Provider"
                  value={provider}
                  choices={[
                    { value: '', label: 'Any provider' },
                    ...providersOf(all, provider.value).map((one) => ({ value: one, label: one })),
                  ]}
                />
                {isFiltered && <Button onClick={clear}>Clear filters</Button>}
              </div>
              {all.length === 0 ? (
                <Empty text="No cluster matches the filter." />
              ) : (
                <Table
                  caption="Clusters"
                  isPure
                  rows={all}
                  keyOf={(cluster) => String(cluster.id)}
                  hrefOf={(cluster) => orgPath(org, `/clusters/${cluster.id}`)}
                  total={clusters.total}
                  hasMore={clusters.hasMore}
                  onMore={clusters.loadMore}
                  sort={{ by: sort.value, isDescending: order.value === 'desc' }}
                  onSort={(by, isDescending) => {
                    sort.value = by;
                    order.value = isDescending ? 'desc' : '';
                  }}
                  columns={[
                    {
                      key: 'name',
                      title: 'Name',
                      sortBy: 'name',
                      cell: (one) => <bdi class="cut">{titleOf(one)}</bdi>,
                    },
                    { key: 'phase', title: 'Phase', cell: (one) => <Phase phase={one.status.response.phase} /> },
                    { key: 'version', title: 'Kubernetes', cell: (one) => one.orchestratorVersion, isMinor: true },
                    {
                      key: 'nodes',
                      title: 'Nodes',
                      sortBy: 'nodes',
                      cell: (one) => one.nodeCount,
                      isNumber: true,
                      isMinor: true,
                    },
                    { key: 'provider', title: 'Provider', cell: (one) => <bdi>{one.provider}</bdi>, isMinor: true },
                    {
                      key: 'heartbeat',
                      title: 'Last heartbeat',
                      sortBy: 'heartbeat',
                      cell: (one) => <When at={one.heartbeatAt} />,
                      isMinor: true,
                    },
                    {
                      key: 'age',
                      title: 'Imported',
                      sortBy: 'created',
                      cell: (one) => <When at={one.createdAt} />,
                      isMinor: true,
                    },
                  ]}
                />
              )}
            </div>
          )
        }
      </Show>
    </Page>
  );
}

/** The usual ones, those on the screen, and the one that the address names. */
function providersOf(rows: readonly { readonly provider: string }[], chosen: string): readonly string[] {
  const all = [...PROVIDERS, ...rows.map(({ provider }) => provider), chosen].filter((one) => one !== '');
  return [...new Set(all)].sort((one, other) => one.localeCompare(other));
}
