import { useSignal } from '@preact/signals';
import type { Item } from '../../../../client/client.ts';
import { useQueryFields } from '../../data/address.ts';
import { unlessEmpty, useKept, useSettled } from '../../data/filters.ts';
import { orgPath, useOrg } from '../../data/org.ts';
import { useList, useResource } from '../../data/resource.ts';
import { me } from '../../data/session.ts';
import { Chip, Person } from '../../parts/bits.tsx';
import { Button, LinkButton } from '../../parts/button.tsx';
import { Expires } from '../../parts/expiry.tsx';
import { SelectField, TextField } from '../../parts/field.tsx';
import { Empty, Page, Show } from '../../parts/page.tsx';
import { Table } from '../../parts/table.tsx';
import { When } from '../../parts/when.tsx';
import { AddMember } from './add-member.tsx';
import { RemoveMember, useRemoval } from './remove-member.tsx';
import { TeamChips } from './team-chips.tsx';

type Member = Item<'GET /orgs/{org}/members'>;
type Sort = 'name' | 'joined';

export function MembersPage() {
  const { org, whyNot, question } = useOrg();
  const { q, team, sort, order } = useQueryFields({ q: '', team: '', sort: 'name', order: '' });
  const query = {
    q: unlessEmpty(useSettled(q.value)),
    team: unlessEmpty(team.value),
    sort: sort.value as Sort,
    order: order.value === 'desc' ? ('desc' as const) : undefined,
    limit: 50,
  };
  const members = useKept(useList('GET /orgs/{org}/members', { path: { org }, query }), org);
  const teams = useResource('GET /orgs/{org}/teams', { path: { org }, query: { limit: 50 } });
  const isAdding = useSignal(false);
  const removed = useSignal<Member | undefined>(undefined);
  const removal = useRemoval();
  const isFiltered = q.value !== '' || team.value !== '';
  const clear = () => {
    q.value = '';
    team.value = '';
  };
  return (
    <Page
      title="Members"
      within={org}
      lead="All users who are in a team of the organization."
      isStale={members.isStale}
      actions={
        <span class="line" data-key="n">
          <Button
            kind="main"
            icon="plus"
            whyNot={whyNot('can_add_member', 'add people to the organization')}
            onClick={() => (isAdding.value = true)}
          >
            Add person
          </Button>
          <LinkButton href={orgPath(org, '/invitations')}>Invitations</LinkButton>
        </span>
      }
    >
      <Show of={members} whyNot={question('can_view_members', 'see the members')}>
        {(all) => (
          <div class="stack">
            <div class="filters" data-filter>
              <TextField label="Search" type="search" value={q} placeholder="Name or address" />
              {teams.data !== undefined && (
                <SelectField
                  label="Team"
                  value={team}
                  choices={[
                    { value: '', label: 'All teams' },
                    ...teams.data.map(({ id: teamId, name }) => ({ value: String(teamId), label: name })),
                  ]}
                />
              )}
            </div>
            {all.length === 0 ? (
              <Empty
                text={isFiltered ? 'No member matches the filter.' : 'This organization has no members yet.'}
                action={isFiltered && <Button onClick={clear}>Clear filters</Button>}
                command={isFiltered ? undefined : `atrium org add-member USER --org ${org}`}
              />
            ) : (
              <Table
                caption="Members"
                rows={all}
                keyOf={(person) => person.login}
                hrefOf={(person) => orgPath(org, `/members/${encodeURIComponent(person.login)}`)}
                total={members.total}
                hasMore={members.hasMore}
                onMore={members.loadMore}
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
                    cell: (person) => (
                      <span class="line">
                        <Person login={person.login} fullName={person.full_name} />
                        {person.managed_by_scim && <Chip>Managed by SCIM</Chip>}
                      </span>
                    ),
                  },
                  { key: 'teams', title: 'Teams', cell: (person) => <TeamChips org={org} teams={person.teams} /> },
                  {
                    key: 'joined',
                    title: 'Joined',
                    sortBy: 'joined',
                    cell: (person) => <When at={person.joined_at} />,
                    isMinor: true,
                  },
                  ...(all.some(({ expires_at }) => expires_at)
                    ? [
                        {
                          key: 'expires',
                          title: 'Expires',
                          cell: (person: Member) => <Expires at={person.expires_at} />,
                          isMinor: true,
                        },
                      ]
                    : []),
                  {
                    key: 'remove',
                    title: '',
                    isNumber: true,
                    // On narrow screens, the page of the person has it.
                    isMinor: true,
                    cell: (person) => (
                      <Button
                        label={person.login === me.value?.login ? undefined : `Remove ${person.login}`}
                        whyNot={removal.whyNot(person.login)}
                        disabledBecause={removal.problem(person.login, person.teams)}
                        onClick={() => (removed.value = person)}
                      >
                        {person.login === me.value?.login ? 'Leave' : 'Remove'}
                      </Button>
                    ),
                  },
                ]}
              />
            )}
          </div>
        )}
      </Show>
      {isAdding.value && <AddMember org={org} teams={teams.data ?? []} onClose={() => (isAdding.value = false)} />}
      {removed.value && (
        <RemoveMember
          org={org}
          login={removed.value.login}
          teams={removed.value.teams}
          onClose={() => (removed.value = undefined)}
        />
      )}
    </Page>
  );
}
