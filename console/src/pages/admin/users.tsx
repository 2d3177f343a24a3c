import { useSignal } from '@preact/signals';
import { useQueryFields } from '../../data/address.ts';
import { unlessEmpty, useKept, useSettled } from '../../data/filters.ts';
import { useList } from '../../data/resource.ts';
import { Person } from '../../parts/bits.tsx';
import { Button } from '../../parts/button.tsx';
import { SelectField, TextField } from '../../parts/field.tsx';
import { Empty, Page, Show } from '../../parts/page.tsx';
import { Table } from '../../parts/table.tsx';
import { When } from '../../parts/when.tsx';
import { AdminOnly } from './admin-only.tsx';
import { NewUser } from './new-user.tsx';
import { adminUserPath, STATES, UserChips, type UserState } from './user-state.tsx';

export function AdminUsersPage() {
  return (
    <AdminOnly title="People">
      <People />
    </AdminOnly>
  );
}

function People() {
  const { q, state } = useQueryFields({ q: '', state: '' });
  const query = {
    q: unlessEmpty(useSettled(q.value)),
    state: unlessEmpty(state.value) as UserState | undefined,
    limit: 50,
  };
  const users = useKept(useList('GET /admin/users', { query }), '');
  const isCreating = useSignal(false);
  const isFiltered = q.value !== '' || state.value !== '';
  const clear = () => {
    q.value = '';
    state.value = '';
  };
  return (
    <Page
      title="People"
      within="Administration"
      lead="All users of this deployment."
      isStale={users.isStale}
      actions={
        <span data-key="n">
          <Button kind="main" icon="plus" onClick={() => (isCreating.value = true)}>
            New person
          </Button>
        </span>
      }
    >
      <Show of={users}>
        {(all) => (
          <div class="stack">
            <div class="filters" data-filter>
              <TextField label="Search" type="search" value={q} placeholder="Name or address" />
              <SelectField label="State" value={state} choices={STATES} />
            </div>
            {all.length === 0 ? (
              <Empty
                text={isFiltered ? 'No account matches the filter.' : 'There is no account yet.'}
                action={isFiltered && <Button onClick={clear}>Clear filters</Button>}
                command={isFiltered ? undefined : 'atrium user create NAME ADDRESS'}
              />
            ) : (
              <Table
                caption="People"
                rows={all}
                keyOf={(user) => user.login}
                hrefOf={(user) => adminUserPath(user.login)}
                total={users.total}
                hasMore={users.hasMore}
                onMore={users.loadMore}
                columns={[
                  {
                    key: 'name',
                    title: 'Name',
                    cell: (user) => <Person login={user.login} fullName={user.full_name} />,
                  },
                  { key: 'state', title: 'State', cell: (user) => <UserChips user={user} /> },
                  { key: 'email', title: 'Email', cell: (user) => <bdi>{user.email}</bdi>, isMinor: true },
                  { key: 'login', title: 'Last sign-in', cell: (user) => <When at={user.last_login} />, isMinor: true },
                  { key: 'created', title: 'Created', cell: (user) => <When at={user.created} />, isMinor: true },
                ]}
              />
            )}
          </div>
        )}
      </Show>
      {isCreating.value && <NewUser onClose={() => (isCreating.value = false)} />}
    </Page>
  );
}
