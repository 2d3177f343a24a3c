import { useSignal } from '@preact/signals';
import type { Answer } from '../../../../client/client.ts';
import { useAction } from '../../data/action.ts';
import { api } from '../../data/api.ts';
import { orgPath, useOrg } from '../../data/org.ts';
import { useResource } from '../../data/resource.ts';
import { Card } from '../../parts/bits.tsx';
import { Button } from '../../parts/button.tsx';
import { Confirm } from '../../parts/confirm.tsx';
import { chosenExpiry, ExpiryField, previewedExpiry, Renewal, useExpiry } from '../../parts/expiry.tsx';
import { SelectField, useFirst } from '../../parts/field.tsx';
import { FormDialog } from '../../parts/form.tsx';
import { Impact } from '../../parts/impact.tsx';
import { Show } from '../../parts/page.tsx';
import { Table } from '../../parts/table.tsx';
import { notify } from '../../parts/toast.tsx';

type Team = Answer<'GET /teams/{id}'>;

/** Asked for together with the team, not after it. */
export const useTeamRoles = (id: string) => useResource('GET /teams/{id}/roles', { path: { id } });

export function TeamRoles({ org, team }: { org: string; team: Team }) {
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
                            org={org}
                            planned={{ action: 'role.assign', id: role.id, team: team.id }}
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
      {role !== '' && (
        <Impact
          org={org}
          changes={[{ action: 'role.assign', id: BigInt(role), team: team.id, ...previewedExpiry(expiry) }]}
        />
      )}
    </FormDialog>
  );
}
