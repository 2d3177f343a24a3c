import { useRoute } from 'preact-iso';
import { useList } from '../../data/resource.ts';
import { Person } from '../../parts/bits.tsx';
import { Page, Show } from '../../parts/page.tsx';
import { Table } from '../../parts/table.tsx';

export function MembersPage() {
  const org = useRoute().params.org ?? '';
  const members = useList('GET /orgs/{org}/members', { path: { org }, query: { limit: 50 } });
  return (
    <Page title="Members" within={org} isStale={members.isStale}>
      <Show of={members}>
        {(all) => (
          <Table
            caption="Members"
            rows={all}
            keyOf={(person) => person.login}
            hrefOf={(person) => `/orgs/${org}/members/${person.login}`}
            total={members.total}
            hasMore={members.hasMore}
            onMore={members.loadMore}
            columns={[
              {
                key: 'name',
                title: 'Name',
                cell: (person) => (
                  <Person login={person.login} fullName={person.full_name} avatarUrl={person.avatar_url} />
                ),
              },
            ]}
          />
        )}
      </Show>
    </Page>
  );
}
