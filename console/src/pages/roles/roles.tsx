import { useSignal } from '@preact/signals';
import type { Item } from '../../../../client/client.ts';
import { nameOfAction } from '../../../../client/permissions.ts';
import { orgPath, useOrg } from '../../data/org.ts';
import { useResource } from '../../data/resource.ts';
import { Chip } from '../../parts/bits.tsx';
import { Button, LinkButton } from '../../parts/button.tsx';
import { TextField } from '../../parts/field.tsx';
import { Empty, Page, Show } from '../../parts/page.tsx';
import { Table } from '../../parts/table.tsx';
import { When } from '../../parts/when.tsx';
import { RoleTabs } from './role-tabs.tsx';

type Role = Item<'GET /authz/roles'>;

const SHOWN_PERMISSIONS = 3;

export function RolesPage() {
  const { org, whyNot, question } = useOrg();
  const filter = useSignal('');
  const roles = useResource('GET /authz/roles', { query: { org } });
  const cannotCreate = whyNot('can_create_role', 'create roles');
  const create = cannotCreate ? (
    <Button kind="main" icon="plus" whyNot={cannotCreate}>
      New role
    </Button>
  ) : (
    <LinkButton kind="main" icon="plus" href={orgPath(org, '/roles/new')}>
      New role
    </LinkButton>
  );
  return (
    <Page
      title="Roles"
      within={org}
      lead="A role bundles permissions. Teams, people and robots hold them where the role is assigned to them."
      isStale={roles.isStale}
      actions={<span data-key="n">{create}</span>}
    >
      <RoleTabs />
      <Show of={roles} whyNot={question('can_view_roles', 'see the roles')}>
        {(all) => {
          if (all.length === 0) {
            return (
              <Empty
                text="There are no custom roles. Teams grant permissions by themselves; a role adds just what is missing."
                action={create}
                command={`atrium role create NAME --org ${org} --permission 'cluster_mgmt:view clusters'`}
              />
            );
          }
          const wanted = filter.value.trim().toLowerCase();
          const shown = all.filter(({ name, description }) => `${name} ${description}`.toLowerCase().includes(wanted));
          return (
            <div class="stack">
              <div class="filters" data-filter>
                <TextField label="Filter" type="search" value={filter} placeholder="Name or description" />
              </div>
              {shown.length === 0 ? (
                <Empty
                  text={`Nothing matches ${filter.value}.`}
                  action={<Button onClick={() => (filter.value = '')}>Clear the filter</Button>}
                />
              ) : (
                <Table
                  caption="Custom roles"
                  rows={shown}
                  keyOf={(role) => String(role.id)}
                  hrefOf={(role) => orgPath(org, `/roles/${role.id}`)}
                  total={shown.length}
                  columns={[
                    { key: 'name', title: 'Name', cell: (role) => <bdi>{role.name}</bdi> },
                    {
                      key: 'permissions',
                      title: 'Permissions',
                      cell: (role) => (
                        <span class="line">
                          {role.permissions.slice(0, SHOWN_PERMISSIONS).map(({ namespace, action }) => (
                            <Chip key={`${namespace}:${action}`}>{nameOfAction(action)}</Chip>
                          ))}
                          {role.permissions.length > SHOWN_PERMISSIONS && (
                            <span class="quiet small">{`and ${role.permissions.length - SHOWN_PERMISSIONS} more`}</span>
                          )}
                        </span>
                      ),
                    },
                    { key: 'teams', title: 'Teams', cell: (role) => role.team_ids.length, isNumber: true },
                    ...(all.some(({ people }) => people !== undefined)
                      ? [{ key: 'people', title: 'People', cell: ({ people }: Role) => people, isNumber: true }]
                      : []),
                    {
                      key: 'description',
                      title: 'Description',
                      cell: (role) => <bdi class="quiet">{role.description}</bdi>,
                      isMinor: true,
                    },
                    { key: 'changed', title: 'Changed', cell: (role) => <When at={role.updated_at} />, isMinor: true },
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
