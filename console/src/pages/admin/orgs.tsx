import { useQueryFields } from '../../data/address.ts';
import { unlessEmpty, useKept, useSettled } from '../../data/filters.ts';
import { orgPath } from '../../data/org.ts';
import { useList } from '../../data/resource.ts';
import { Avatar, Chip } from '../../parts/bits.tsx';
import { Button, LinkButton } from '../../parts/button.tsx';
import { SelectField, TextField } from '../../parts/field.tsx';
import { Empty, Page, Show } from '../../parts/page.tsx';
import { Table } from '../../parts/table.tsx';
import { AdminOnly } from './admin-only.tsx';

export function AdminOrgsPage() {
  return (
    <AdminOnly title="Organizations">
      <Organizations />
    </AdminOnly>
  );
}

const OWNERS = [
  { value: '', label: 'All' },
  { value: 'none', label: 'Without an owner' },
] as const;

function Organizations() {
  const { q, owner } = useQueryFields({ q: '', owner: '' });
  const query = {
    q: unlessEmpty(useSettled(q.value)),
    ownerless: owner.value === 'none' ? 'true' : undefined,
    limit: 50,
  };
  const orgs = useKept(useList('GET /admin/orgs', { query }), '');
  const isFiltered = q.value !== '' || owner.value !== '';
  const create = (
    <LinkButton kind="main" icon="plus" href="/orgs/new">
      New organization
    </LinkButton>
  );
  const clear = () => {
    q.value = '';
    owner.value = '';
  };
  return (
    <Page
      title="Organizations"
      within="Administration"
      lead="All organizations of this deployment. As a site administrator, you can do in each what its owners can."
      isStale={orgs.isStale}
      actions={<span data-key="n">{create}</span>}
    >
      <Show of={orgs}>
        {(all) => (
          <div class="stack">
            <div class="filters" data-filter>
              <TextField label="Search" type="search" value={q} placeholder="Name" />
              <SelectField label="Owners" value={owner} choices={OWNERS} />
            </div>
            {all.length === 0 ? (
              <Empty
                text={emptyText(q.value, owner.value)}
                action={isFiltered ? <Button onClick={clear}>Clear filters</Button> : create}
                command={isFiltered ? undefined : 'atrium org create NAME'}
              />
            ) : (
              <Table
                caption="Organizations"
                rows={all}
                keyOf={(org) => org.name}
                hrefOf={(org) => orgPath(org.name)}
                total={orgs.total}
                hasMore={orgs.hasMore}
                onMore={orgs.loadMore}
                columns={[
                  {
                    key: 'name',
                    title: 'Name',
                    cell: (org) => (
                      <>
                        <Avatar url={org.avatar_url} />
                        <bdi class="cut">{org.name}</bdi>
                      </>
                    ),
                  },
                  { key: 'full', title: 'Full name', cell: (org) => <bdi>{org.full_name}</bdi> },
                  {
                    key: 'description',
                    title: 'Description',
                    cell: (org) => <bdi class="quiet">{org.description}</bdi>,
                    isMinor: true,
                  },
                  {
                    key: 'kind',
                    title: 'Kind',
                    cell: (org) => <Chip tone={org.orgType === 'client' ? 'info' : 'quiet'}>{kindOf(org)}</Chip>,
                    isMinor: true,
                  },
                ]}
              />
            )}
          </div>
        )}
      </Show>
    </Page>
  );
}

function emptyText(q: string, owner: string): string {
  if (q !== '') return 'No organization matches the filter.';
  return owner === 'none' ? 'Every organization has an owner.' : 'There are no organizations yet.';
}

function kindOf({ orgType, visibility }: { orgType: string; visibility: string }): string {
  return orgType === 'client' ? 'client' : visibility;
}
