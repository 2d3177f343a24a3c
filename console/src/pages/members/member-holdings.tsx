import { useSignal } from '@preact/signals';
import { useAction } from '../../data/action.ts';
import { useAllowed } from '../../data/allowed.ts';
import { api } from '../../data/api.ts';
import { orgPath, useOrg } from '../../data/org.ts';
import { useResource } from '../../data/resource.ts';
import { notifyUndoable } from '../../data/undo.ts';
import { Card, Chip } from '../../parts/bits.tsx';
import { Button } from '../../parts/button.tsx';
import { Confirm } from '../../parts/confirm.tsx';
import { chosenExpiry, ExpiryField, previewedExpiry, Renewal, useExpiry } from '../../parts/expiry.tsx';
import { SelectField, useFirst } from '../../parts/field.tsx';
import { FormDialog } from '../../parts/form.tsx';
import { Impact } from '../../parts/impact.tsx';
import { Show } from '../../parts/page.tsx';
import { Table } from '../../parts/table.tsx';
import { Assignments } from '../assignments/assignments.tsx';
import { MemberAccess, useMemberAccess } from './member-access.tsx';
import type { Member } from './member-data.ts';
import type { MemberTeam } from './team-chips.tsx';

interface HoldingsProps {
  readonly org: string;
  readonly member: Member;
}

/** The teams of a member, and what each grants: by its permission and by its roles. */
export function MemberHoldings({ org, member }: HoldingsProps) {
  const { may } = useOrg();
  const access = useMemberAccess(org, member.login);
  // Owners manage every team, and only in the Owners team may something be in the way.
  const isOwner = may('can_delete') === true;
  const allowed = useAllowed(
    org,
    member.teams.filter(({ permission }) => !isOwner || permission === 'owner').map(({ id }) => ({ type: 'team', id })),
  );
  const isAdding = useSignal(false);
  const left = useSignal<MemberTeam | undefined>(undefined);
  const putBack =
    ({ id, expires_at }: MemberTeam) =>
    () =>
      api.call('PUT /teams/{id}/members/{username}', { path: { id, username: member.login }, body: { expires_at } });
  const first = member.teams[0];
  // Editors may add people to the viewers, even if they may not manage teams.
  const cannotAdd =
    first && may('can_manage_team_members') === false && may('can_edit') === false
      ? { org, type: 'team', id: first.id, relation: 'can_add_member', task: 'add people to teams' }
      : undefined;
  return (
    <>
      <Card
        title="Teams, and what they grant"
        actions={
          <span data-key="n">
            <Button icon="plus" whyNot={cannotAdd} onClick={() => (isAdding.value = true)}>
              Add to a team
            </Button>
          </span>
        }
      >
        <Table
          caption="Teams"
          rows={member.teams}
          keyOf={(team) => String(team.id)}
          hrefOf={(team) => orgPath(org, `/teams/${team.id}`)}
          columns={[
            { key: 'name', title: 'Team', cell: (team) => <bdi>{team.name}</bdi> },
            { key: 'grants', title: 'Grants', cell: (team) => grantWords(team.permission), isMinor: true },
            {
              key: 'roles',
              title: 'Roles',
              cell: (team) => (
                <span class="line">
                  {(access.data?.roles ?? [])
                    .filter(({ via }) => via.some(({ id }) => id === team.id))
                    .map((role) => (
                      <a key={String(role.id)} href={orgPath(org, `/roles/${role.id}`)}>
                        <Chip>{role.name}</Chip>
                      </a>
                    ))}
                </span>
              ),
            },
            ...(member.teams.some(({ expires_at }: MemberTeam) => expires_at)
              ? [
                  {
                    key: 'expires',
                    title: 'Expires',
                    cell: (team: MemberTeam) => (
                      <Renewal
                        at={team.expires_at}
                        what={`the membership of ${team.name}`}
                        whyNot={
                          allowed.may('can_add_member', { type: 'team', id: team.id }) === false
                            ? {
                                org,
                                type: 'team',
                                id: team.id,
                                relation: 'can_add_member',
                                task: `renew memberships of ${team.name}`,
                              }
                            : undefined
                        }
                        change={(expires_at) =>
                          api.call('PUT /teams/{id}/members/{username}', {
                            path: { id: team.id, username: member.login },
                            body: { expires_at },
                          })
                        }
                        org={org}
                        planned={{ action: 'team.add_member', id: team.id, username: member.login }}
                      />
                    ),
                  },
                ]
              : []),
            {
              key: 'remove',
              title: '',
              isNumber: true,
              cell: (team) => (
                <Button
                  label={`Remove from ${team.name}`}
                  whyNot={
                    allowed.may('can_remove_member', { type: 'team', id: team.id }) === false
                      ? {
                          org,
                          type: 'team',
                          id: team.id,
                          relation: 'can_remove_member',
                          task: `remove people from ${team.name}`,
                        }
                      : undefined
                  }
                  onClick={() => (left.value = team)}
                >
                  Remove
                </Button>
              ),
            },
          ]}
        />
        {isAdding.value && <AddToTeam org={org} member={member} onClose={() => (isAdding.value = false)} />}
        {left.value && (
          <Confirm
            title={`Remove ${member.login} from ${left.value.name}?`}
            verb="Remove"
            done={`${member.login} was removed from ${left.value.name}.`}
            change={() =>
              api.call('DELETE /teams/{id}/members/{username}', {
                path: { id: left.value?.id ?? 0n, username: member.login },
              })
            }
            undo={putBack(left.value)}
            onClose={() => (left.value = undefined)}
          >
            <p>
              {member.teams.length === 1
                ? 'It is their only team, so they leave the organization with it.'
                : 'They lose what this team grants, unless another team grants it too.'}
            </p>
            <Impact org={org} changes={[{ action: 'team.remove_member', id: left.value.id, username: member.login }]} />
          </Confirm>
        )}
      </Card>
      <Assignments
        org={org}
        given={{ to: { type: 'user', id: member.id, name: member.login } }}
        title="Roles of their own"
        empty="No role is assigned to them directly. What their teams have is above."
      />
      <MemberAccess org={org} login={member.login} access={access} />
    </>
  );
}

/** Loads the teams only when they are needed. */
function AddToTeam({ org, member, onClose }: HoldingsProps & { onClose: () => void }) {
  const { login } = member;
  const all = useResource('GET /orgs/{org}/teams', { path: { org }, query: { limit: 50 } });
  const others = (all.data ?? []).filter(({ id }) => !member.teams.some((one) => one.id === id));
  const allowed = useAllowed(
    org,
    others.map(({ id }) => ({ type: 'team', id })),
  );
  const teams = others.filter(({ id }) => allowed.may('can_add_member', { type: 'team', id }));
  const isKnown = others.length === 0 || allowed.isKnown;
  const chosen = useFirst(teams);
  const expiry = useExpiry();
  const add = useAction(async () => {
    const path = { id: chosen.value, username: login };
    const body = { expires_at: chosenExpiry(expiry) ?? undefined };
    await api.call('PUT /teams/{id}/members/{username}', { path, body });
    const name = teams.find(({ id }) => String(id) === chosen.value)?.name ?? 'the team';
    notifyUndoable(`${login} was added to ${name}.`, () => api.call('DELETE /teams/{id}/members/{username}', { path }));
  });
  return (
    <FormDialog
      title={`Add ${login} to a team`}
      verb="Add to team"
      action={add}
      fields={['expires_at']}
      onClose={onClose}
      disabledBecause={chosen.value === '' ? 'Choose a team first.' : undefined}
    >
      <Show of={{ ...all, data: isKnown ? all.data : undefined }} rows={1}>
        {() =>
          teams.length === 0 ? (
            <p class="quiet">There is no other team that you may add them to.</p>
          ) : (
            <SelectField
              label="Team"
              value={chosen}
              choices={teams.map(({ id, name, permission }) => ({
                value: String(id),
                label: `${name}: ${grantWords(permission)}`,
              }))}
            />
          )
        }
      </Show>
      <ExpiryField choice={expiry} error={add.fieldError('expires_at')} />
      {chosen.value !== '' && (
        <Impact
          org={org}
          changes={[
            { action: 'team.add_member', id: BigInt(chosen.value), username: login, ...previewedExpiry(expiry) },
          ]}
        />
      )}
    </FormDialog>
  );
}

const GRANTS: Readonly<Record<string, string>> = {
  none: 'only what its roles grant',
  read: 'view everything',
  write: 'view everything, and change clusters, contracts and robots',
  admin: 'view and change everything, also members, teams and roles',
  owner: 'everything, also deleting the organization',
};

function grantWords(permission: string): string {
  return GRANTS[permission] ?? permission;
}
