import { useList } from '../../data/resource.ts';
import { me } from '../../data/session.ts';
import { Avatar, Card } from '../../parts/bits.tsx';
import { LinkButton } from '../../parts/button.tsx';
import { Empty, Page, Show } from '../../parts/page.tsx';
import { Table } from '../../parts/table.tsx';

export function HomePage() {
  const orgs = useList('GET /orgs', { query: { limit: 50 } });
  return (
    <Page title={`Hello ${me.value?.full_name || me.value?.login}`}>
      <Card title="Organizations">
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
                caption="Organizations"
                rows={all}
                keyOf={(org) => org.name}
                hrefOf={(org) => `/orgs/${encodeURIComponent(org.name)}`}
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
                  { key: 'full', title: 'Full name', cell: (org) => <bdi>{org.full_name}</bdi>, isMinor: true },
                ]}
              />
            )
          }
        </Show>
      </Card>
    </Page>
  );
}
