import { useQueryFields } from '../../data/address.ts';
import { orgPath } from '../../data/org.ts';
import { useList } from '../../data/resource.ts';
import { isSiteAdmin } from '../../data/session.ts';
import { Avatar, Chip } from '../../parts/bits.tsx';
import { Button, LinkButton } from '../../parts/button.tsx';
import { TextField } from '../../parts/field.tsx';
import { Empty, Page, Show } from '../../parts/page.tsx';
import { Table } from '../../parts/table.tsx';

export function OrgsPage() {
  // For a site administrator, this list has every organization.
  const orgs = useList('GET /orgs', { query: { limit: 50 } });
  const { q } = useQueryFields({ q: '' });
  const create = (
    <LinkButton kind="main" icon="plus" href="/orgs/new">
      New organization
    </LinkButton>
  );
  return (
    <Page
      title="Organizations"
      lead={isSiteAdmin.value ? 'All organizations of this deployment.' : 'The organizations that you are in.'}
      isStale={orgs.isStale}
      actions={<span data-key="n">{create}</span>}
    >
      <Show of={orgs}>
        {(all) => {
          if (all.length === 0) {
            return (
              <Empty
                text="You are in no organization yet. Create one, or ask an owner to add you."
                action={create}
                command="atrium org create NAME"
              />
            );
          }
          const wanted = q.value.trim().toLowerCase();
          const found = all.filter(({ name, full_name }) => `${name} ${full_name}`.toLowerCase().includes(wanted));
          return (
            <div class="stack">
              <div class="filters" data-filter>
                <TextField label="Search" type="search" value={q} placeholder="Name" />
              </div>
              {found.length === 0 ? (
                <Empty
                  text={
                    orgs.hasMore
                      ? `None of the first ${all.length} organizations matches.`
                      : 'No organization matches the search.'
                  }
                  action={
                    orgs.hasMore ? (
                      <Button onClick={orgs.loadMore}>Search 50 more</Button>
                    ) : (
                      <Button onClick={() => (q.value = '')}>Clear the search</Button>
                    )
                  }
                />
              ) : (
                <Table
                  caption="Organizations"
                  rows={found}
                  keyOf={(org) => org.name}
                  hrefOf={(org) => orgPath(org.name)}
                  total={wanted === '' ? orgs.total : undefined}
                  hasMore={orgs.hasMore}
                  onMore={orgs.loadMore}
                  columns={[
                    {
                      key: 'name',
                      title: 'Name',
                      cell: (org) => (
                        <>
                          <Avatar url={org.avatar_url} />
                          <bdi>{org.name}</bdi>
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
                      key: 'visibility',
                      title: 'Visibility',
                      cell: (org) => <Chip>{org.visibility}</Chip>,
                      isMinor: true,
                    },
                  ]}
                />
              )}
            </div>
          );
        }}
      </Show>
    </Page>
  );
}
