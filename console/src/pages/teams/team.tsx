import { useSignal } from '@preact/signals';
import { useLocation, useRoute } from 'preact-iso';
import type { Answer } from '../../../../client/client.ts';
import { useAction } from '../../data/action.ts';
import { api } from '../../data/api.ts';
import { orgPath, useOrg, usePageObject } from '../../data/org.ts';
import { useList, useResource } from '../../data/resource.ts';
import { useVersion } from '../../data/version.ts';
import { Card, Chip, Person } from '../../parts/bits.tsx';
import { Button } from '../../parts/button.tsx';
import { Confirm } from '../../parts/confirm.tsx';
import { chosenExpiry, ExpiryField, Renewal, useExpiry } from '../../parts/expiry.tsx';
import { SelectField, TextField, useFirst } from '../../parts/field.tsx';
import { FormDialog } from '../../parts/form.tsx';
import { Impact } from '../../parts/impact.tsx';
import { Empty, Page, Show, ShowPage } from '../../parts/page.tsx';
import { Table } from '../../parts/table.tsx';
import { notify } from '../../parts/toast.tsx';
import { UserPicker } from '../../parts/user-picker.tsx';
import { PERMISSIONS, permissionWord } from './permission-words.ts';

type Team = Answer<'GET /teams/{id}'>;

export function TeamPage() {
  const { org, question } = useOrg();
  const id = useRoute().params.id ?? '';
  const team = useResource('GET /teams/{id}', { path: { id } });
  // Asked for together with the team, not after it.
  useMembers(id);
  useTeamRoles(id);
  return (
    <ShowPage title="Team" within={org} of={team} whyNot={question('can_view_teams', 'see the teams')}>
      {(found) => <TeamDetails org={org} team={found} etag={team.etag} isStale={team.isStale} />}
    </ShowPage>
  );
}

interface TeamDetailsProps {
  readonly org: string;
  readonly team: Team;
  readonly etag: string | undefined;
  readonly isStale: boolean;
}

function TeamDetails({ org, team, etag, isStale }: TeamDetailsProps) {
  const { route } = useLocation();
  const { whyNot } = usePageObject();
  const dialog = useSignal<'edit' | 'delete' | undefined>(undefined);
  const close = () => (dialog.value = undefined);
  return (
    <Page
      title={team.name}
      within={org}
      lead={team.description}
      isStale={isStale}
      actions={
        <>
          <span data-key="e">
            <Button whyNot={whyNot('can_edit', 'change this team')} onClick={() => (dialog.value = 'edit')}>
              Edit team
            </Button>
          </span>
          <Button
            kind="danger"
            whyNot={whyNot('can_delete', 'delete this team')}
            onClick={() => (dialog.value = 'delete')}
          >
            Delete team
          </Button>
        </>
      }
    >
      <p class="line">
        Permission <Chip tone="mark">{permissionWord(team.permission)}</Chip>
      </p>
      <TeamMembers org={org} team={team} />
      <TeamRoles org={org} team={team} />
      {dialog.value === 'edit' && <EditTeam org={org} team={team} etag={etag} onClose={close} />}
      {dialog.value === 'delete' && (
        <Confirm
          title={`Delete the team ${team.name}?`}
          verb="Delete team"
          typedName={team.name}
          done={`The team ${team.name} was deleted.`}
          change={() => api.call('DELETE /teams/{id}', { path: { id: team.id } })}
          onClose={close}
          onDone={() => route(orgPath(org, '/teams'))}
        >
          <p>Its members lose what the team and its roles grant them. This cannot be undone.</p>
          <Impact org={org} changes={[{ action: 'team.delete', id: team.id }]} />
        </Confirm>
      )}
    </Page>
  );
}

const useMembers = (id: string) => useList('GET /teams/{id}/members', { path: { id }, query: { limit: 50 } });
const useTeamRoles = (id: string) => useResource('GET /teams/{id}/roles', { path: { id } });

function TeamMembers({ org, team }: { org: string; team: Team }) {
  const { whyNot } = usePageObject();
  const members = useMembers(String(team.id));
  const login = useSignal('');
  const isAdding = useSignal(false);
  const removed = useSignal<string | undefined>(undefined);
  const path = (username: string) => ({ path: { id: team.id, username } });
  const expiry = useExpiry();
  const put = (username: string, expires_at: string | null | undefined) =>
    api.call('PUT /teams/{id}/members/{username}', { ...path(username), body: { expires_at } });
  const add = useAction(async () => {
    await put(login.value, chosenExpiry(expiry) ?? undefined);
    notify({ kind: 'ok', text: `${login.value} was added to ${team.name}.` });
    login.value = '';
    expiry.days.value = '';
  });
  return (
    <Card
      title="Members"
      actions={
        <span data-key="n">
          <Button
            icon="plus"
            whyNot={whyNot('can_add_member', 'add members to this team')}
            onClick={() => (isAdding.value = true)}
          >
            Add member
          </Button>
        </span>
      }
    >
      <Show of={members}>
        {(all) =>
          all.length === 0 ? (
            <Empty text="Nobody is in this team yet." command={`atrium team add ${team.name} USER --org ${org}`} />
          ) : (
            <Table
              caption="Members of the team"
              rows={all}
              keyOf={(person) => person.login}
              hrefOf={(person) => orgPath(org, `/members/${encodeURIComponent(person.login)}`)}
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
                ...(all.some(({ expires_at }) => expires_at)
                  ? [
                      {
                        key: 'expires',
                        title: 'Expires',
                        cell: (person: (typeof all)[number]) => (
                          <Renewal
                            at={person.expires_at}
                            what={`the membership of ${person.login}`}
                            whyNot={whyNot('can_add_member', 'renew memberships of this team')}
                            change={(expiresAt) => put(person.login, expiresAt)}
                          />
                        ),
                      },
                    ]
                  : []),
                {
                  key: 'remove',
                  title: '',
                  isNumber: true,
                  cell: (person) => (
                    <Button
                      label={`Remove ${person.login}`}
                      whyNot={whyNot('can_remove_member', 'remove members from this team')}
                      onClick={() => (removed.value = person.login)}
                    >
                      Remove
                    </Button>
                  ),
                },
              ]}
            />
          )
        }
      </Show>
      {isAdding.value && (
        <FormDialog
          title={`Add a member to ${team.name}`}
          verb="Add member"
          action={add}
          fields={['expires_at']}
          onClose={() => (isAdding.value = false)}
        >
          <UserPicker label="User" value={login} hint="Only people with an account can be added." />
          <ExpiryField choice={expiry} error={add.fieldError('expires_at')} />
          <Impact
            org={org}
            changes={
              login.value === '' ? undefined : [{ action: 'team.add_member', id: team.id, username: login.value }]
            }
            hint="Choose a user, and this shows what they gain."
          />
        </FormDialog>
      )}
      {removed.value !== undefined && (
        <Confirm
          title={`Remove ${removed.value} from ${team.name}?`}
          verb="Remove"
          done={`${removed.value} was removed from ${team.name}.`}
          change={() => api.call('DELETE /teams/{id}/members/{username}', path(removed.value ?? ''))}
          onClose={() => (removed.value = undefined)}
        >
          <p>They lose what this team grants, unless another team grants it too.</p>
          <Impact org={org} changes={[{ action: 'team.remove_member', id: team.id, username: removed.value }]} />
        </Confirm>
      )}
    </Card>
  );
}

function TeamRoles({ org, team }: { org: string; team: Team }) {
  const { whyNot } = useOrg();
  const roles = useTeamRoles(String(team.id));
  const isAdding = useSignal(false);
  const removed = useSignal<{ readonly id: bigint; readonly name: string } | undefined>(undefined);
  const cannot = whyNot('can_edit_roles', 'assign roles to teams');
  return (
    <Card
      title="Roles"
      actions={
        <Button icon="plus" whyNot={cannot} onClick={() => (isAdding.value = true)}>
          Assign role
        </Button>
      }
    >
      <Show of={roles} rows={2}>
        {(assigned) =>
          assigned.length === 0 ? (
            <p class="quiet">No custom role is assigned to this team.</p>
          ) : (
            <Table
              caption="Roles of the team"
              rows={assigned}
              keyOf={(role) => String(role.id)}
              hrefOf={(role) => orgPath(org, `/roles/${role.id}`)}
              columns={[
                { key: 'name', title: 'Name', cell: (role) => <bdi>{role.name}</bdi> },
                {
                  key: 'permissions',
                  title: 'Permissions',
                  cell: (role) => role.permissions.map(({ action }) => action).join(', '),
                },
                ...(assigned.some(({ expires_at }) => expires_at)
                  ? [
                      {
                        key: 'expires',
                        title: 'Expires',
                        cell: (role: (typeof assigned)[number]) => (
                          <Renewal
                            at={role.expires_at}
                            what={`the assignment of ${role.name}`}
                            whyNot={cannot}
                            change={(expires_at) =>
                              api.call('PUT /teams/{id}/roles/{role}', {
                                path: { id: team.id, role: role.id },
                                body: { expires_at },
                              })
                            }
                          />
                        ),
                      },
                    ]
                  : []),
                {
                  key: 'remove',
                  title: '',
                  isNumber: true,
                  cell: (role) => (
                    <Button
                      label={`Remove ${role.name}`}
                      whyNot={cannot}
                      onClick={() => (removed.value = { id: role.id, name: role.name })}
                    >
                      Remove
                    </Button>
                  ),
                },
              ]}
            />
          )
        }
      </Show>
      {removed.value && (
        <RemoveRole org={org} team={team} role={removed.value} onClose={() => (removed.value = undefined)} />
      )}
      {isAdding.value && (
        <AssignRole org={org} team={team} assigned={roles.data ?? []} onClose={() => (isAdding.value = false)} />
      )}
    </Card>
  );
}

interface RemoveRoleProps {
  readonly org: string;
  readonly team: Team;
  readonly role: { readonly id: bigint; readonly name: string };
  readonly onClose: () => void;
}

function RemoveRole({ org, team, role, onClose }: RemoveRoleProps) {
  return (
    <Confirm
      title={`Remove ${role.name} from ${team.name}?`}
      verb="Remove role"
      done={`The role ${role.name} was removed from ${team.name}.`}
      change={() => api.call('DELETE /teams/{id}/roles/{role}', { path: { id: team.id, role: role.id } })}
      onClose={onClose}
    >
      <p>The members of the team lose what the role grants, unless another team or role grants it too.</p>
      <Impact org={org} changes={[{ action: 'role.unassign', id: role.id, team: team.id }]} />
    </Confirm>
  );
}

interface AssignRoleProps {
  readonly org: string;
  readonly team: Team;
  readonly assigned: readonly { readonly id: bigint }[];
  readonly onClose: () => void;
}

function AssignRole({ org, team, assigned, onClose }: AssignRoleProps) {
  const all = useResource('GET /authz/roles', { query: { org } });
  const left = (all.data ?? []).filter(({ id }) => !assigned.some((role) => role.id === id));
  const chosen = useFirst(left);
  const role = chosen.value;
  const expiry = useExpiry();
  const assign = useAction(async () => {
    const body = { expires_at: chosenExpiry(expiry) ?? undefined };
    await api.call('PUT /teams/{id}/roles/{role}', { path: { id: team.id, role }, body });
    notify({ kind: 'ok', text: `The role was assigned to ${team.name}.` });
  });
  return (
    <FormDialog
      title={`Assign a role to ${team.name}`}
      verb="Assign role"
      action={assign}
      fields={['expires_at']}
      onClose={onClose}
      disabledBecause={role === '' ? 'There is no other role to assign.' : undefined}
    >
      <Show of={all} rows={1}>
        {() =>
          left.length === 0 ? (
            <p class="quiet">The team has every role of the organization already.</p>
          ) : (
            <SelectField
              label="Role"
              value={chosen}
              choices={left.map(({ id, name }) => ({ value: String(id), label: name }))}
            />
          )
        }
      </Show>
      <ExpiryField choice={expiry} error={assign.fieldError('expires_at')} />
      {role !== '' && <Impact org={org} changes={[{ action: 'role.assign', id: BigInt(role), team: team.id }]} />}
    </FormDialog>
  );
}

interface EditTeamProps {
  readonly org: string;
  readonly team: Team;
  readonly etag: string | undefined;
  readonly onClose: () => void;
}

function EditTeam({ org, team, etag, onClose }: EditTeamProps) {
  const name = useSignal(team.name);
  const description = useSignal(team.description);
  const permission = useSignal(team.permission);
  const isOwners = team.permission === 'owner';
  const version = useVersion(etag);
  const save = useAction(async () => {
    const body = {
      ...(name.value !== team.name && { name: name.value }),
      description: description.value,
      ...(permission.value !== team.permission && {
        permission: permission.value as (typeof PERMISSIONS)[number]['value'],
      }),
    };
    const path = { id: team.id };
    await version.save((ifMatch) => api.call('PATCH /teams/{id}', { path, body, ifMatch }));
    notify({ kind: 'ok', text: `The team ${name.value} was saved.` });
  });
  return (
    <FormDialog title={`Edit ${team.name}`} verb="Save team" action={save} fields={['name']} onClose={onClose}>
      <TextField label="Name" value={name} isRequired error={save.fieldError('name')} />
      <TextField label="Description" value={description} />
      {isOwners ? (
        <p class="quiet">The Owners team always has the permission of owners.</p>
      ) : (
        <SelectField label="Permission" value={permission} choices={PERMISSIONS} />
      )}
      {permission.value !== team.permission && (
        <Impact
          org={org}
          changes={[
            {
              action: 'team.update',
              id: team.id,
              team: { permission: permission.value as (typeof PERMISSIONS)[number]['value'] },
            },
          ]}
        />
      )}
    </FormDialog>
  );
}
