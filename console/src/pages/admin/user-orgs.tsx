import type { Answer } from '../../../../client/client.ts';
import { orgPath } from '../../data/org.ts';
import type { Resource } from '../../data/resource.ts';
import { Avatar, Card } from '../../parts/bits.tsx';
import { Empty, Show } from '../../parts/page.tsx';
import { Table } from '../../parts/table.tsx';
import { TeamChips } from '../members/team-chips.tsx';

export type Teams = Answer<'GET /admin/users/{username}/teams'>;

/** The organizations that a user is in, and through which teams. */
export function UserOrgs({ teams, login }: { teams: Resource<Teams>; login: string }) {
  return (
    <Card title="Organizations">
      <Show of={teams} rows={2}>
        {(all) => {
          const orgs = byOrganization(all);
          return orgs.length === 0 ? (
            <Empty
              text="They are in no organization. An owner adds people on the members page."
              command={`atrium org add-member ${login} --org ORG`}
            />
          ) : (
            <Table
              caption="Organizations"
              rows={orgs}
              keyOf={({ organization }) => organization.name}
              hrefOf={({ organization }) => orgPath(organization.name, `/members/${encodeURIComponent(login)}`)}
              columns={[
                {
                  key: 'name',
                  title: 'Name',
                  cell: ({ organization }) => (
                    <>
                      <Avatar url={organization.avatar_url} />
                      <bdi>{organization.name}</bdi>
                    </>
                  ),
                },
                {
                  key: 'teams',
                  title: 'Teams',
                  cell: ({ organization, teams: inIt }) => <TeamChips org={organization.name} teams={inIt} />,
                },
              ]}
            />
          );
        }}
      </Show>
    </Card>
  );
}

interface OrganizationTeams {
  readonly organization: Teams[number]['organization'];
  readonly teams: Teams;
}

function byOrganization(teams: Teams): readonly OrganizationTeams[] {
  const groups = Map.groupBy(teams, ({ organization }) => organization.name);
  return [...groups.values()].flatMap((group) =>
    group[0] === undefined ? [] : [{ organization: group[0].organization, teams: group }],
  );
}
