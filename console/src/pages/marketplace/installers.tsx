import { useSignal } from '@preact/signals';
import { useQueryFields } from '../../data/address.ts';
import { unlessEmpty, useKept, useSettled } from '../../data/filters.ts';
import { useList } from '../../data/resource.ts';
import { Chip } from '../../parts/bits.tsx';
import { Button } from '../../parts/button.tsx';
import { SelectField, TextField } from '../../parts/field.tsx';
import { Empty, Page, Show } from '../../parts/page.tsx';
import { Table } from '../../parts/table.tsx';
import { When } from '../../parts/when.tsx';
import { MarketplaceOnly } from '../admin/admin-only.tsx';
import { INSTALLER_STATES, type Installer, MARKETPLACES } from './marketplace-words.ts';
import { NewInstaller } from './new-installer.tsx';
import { StateMark } from './state-mark.tsx';

const STATES = [
  { value: '', label: 'All' },
  ...Object.entries(INSTALLER_STATES).map(([value, { label }]) => ({ value, label })),
];

export function InstallersPage() {
  return (
    <MarketplaceOnly title="Installers">
      <Installers />
    </MarketplaceOnly>
  );
}

function Installers() {
  const { q, state, marketplace } = useQueryFields({ q: '', state: '', marketplace: '' });
  const query = {
    q: unlessEmpty(useSettled(q.value)),
    state: unlessEmpty(state.value) as Installer['state'] | undefined,
    marketplace: unlessEmpty(marketplace.value) as Installer['marketplace'] | undefined,
    limit: 50,
  };
  const installers = useKept(useList('GET /admin/marketplace/installers', { query }), '');
  const isCreating = useSignal(false);
  const isFiltered = [q, state, marketplace].some(({ value }) => value !== '');
  const clear = () => {
    for (const field of [q, state, marketplace]) field.value = '';
  };
  const create = (
    <Button kind="main" icon="plus" onClick={() => (isCreating.value = true)}>
      New installer
    </Button>
  );
  return (
    <Page
      title="Installers"
      within="Administration"
      lead="Each can be bound once by a customer of a marketplace. Binding creates an organization and a contract."
      isStale={installers.isStale}
      actions={<span data-key="n">{create}</span>}
    >
      <Show of={installers}>
        {(all) => (
          <div class="stack">
            <div class="filters" data-filter>
              <TextField label="Search" type="search" value={q} placeholder="Organization, cluster or ID" />
              <SelectField label="State" value={state} choices={STATES} />
              <SelectField label="Marketplace" value={marketplace} choices={MARKETPLACES} />
            </div>
            {all.length === 0 ? (
              <Empty
                text={isFiltered ? 'No installer matches the filter.' : 'There are no installers yet.'}
                action={isFiltered ? <Button onClick={clear}>Clear filters</Button> : create}
                command={isFiltered ? undefined : 'atrium installer create cloudA --days 30'}
              />
            ) : (
              <InstallerTable installers={all} hasMore={installers.hasMore} onMore={installers.loadMore} />
            )}
          </div>
        )}
      </Show>
      {isCreating.value && <NewInstaller onClose={() => (isCreating.value = false)} />}
    </Page>
  );
}

interface InstallerTableProps {
  readonly installers: readonly Installer[];
  readonly hasMore?: boolean | undefined;
  readonly onMore?: (() => void) | undefined;
}

export function InstallerTable({ installers, hasMore, onMore }: InstallerTableProps) {
  return (
    <Table
      caption="Installers"
      rows={installers}
      keyOf={({ id }) => id}
      hrefOf={({ id }) => `/admin/installers/${encodeURIComponent(id)}`}
      hasMore={hasMore}
      onMore={onMore}
      columns={[
        { key: 'id', title: 'Installer', cell: ({ id }) => <code class="cut">{id}</code> },
        {
          key: 'state',
          title: 'State',
          cell: (one) => (
            <span class="line">
              <StateMark words={INSTALLER_STATES[one.state]} />
              {one.is_test && <Chip tone="info">test</Chip>}
            </span>
          ),
        },
        {
          key: 'org',
          title: 'Organization',
          cell: ({ binding }) => <bdi>{binding?.organization.name ?? ''}</bdi>,
          isMinor: true,
        },
        { key: 'marketplace', title: 'Marketplace', cell: ({ marketplace }) => marketplace, isMinor: true },
        { key: 'created', title: 'Created', cell: (one) => <When at={one.created_at} />, isMinor: true },
        {
          key: 'bound',
          title: 'Binding',
          cell: (one) => (
            <>
              {one.binding ? 'bound ' : 'expires '}
              <When at={one.binding?.bound_at ?? one.expires_at} />
            </>
          ),
          isMinor: true,
        },
      ]}
    />
  );
}
