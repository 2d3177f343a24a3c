import { useSignal } from '@preact/signals';
import { useLocation, useRoute } from 'preact-iso';
import type { Answer } from '../../../../client/client.ts';
import { useAction } from '../../data/action.ts';
import { api } from '../../data/api.ts';
import { orgPath, useOrg, usePageObject } from '../../data/org.ts';
import { useResource } from '../../data/resource.ts';
import { notifyUndoable } from '../../data/undo.ts';
import { useVersion } from '../../data/version.ts';
import { Chip } from '../../parts/bits.tsx';
import { Button } from '../../parts/button.tsx';
import { Confirm } from '../../parts/confirm.tsx';
import { SelectField, TextField } from '../../parts/field.tsx';
import { FormDialog } from '../../parts/form.tsx';
import { Impact } from '../../parts/impact.tsx';
import { Page, ShowPage } from '../../parts/page.tsx';
import type { Given } from '../assignments/assignment.ts';
import { Assignments, useAssignments } from '../assignments/assignments.tsx';
import { PERMISSIONS, permissionWord } from './permission-words.ts';
import { TeamMembers, useMembers } from './team-members.tsx';

type Team = Answer<'GET /teams/{id}'>;

export function TeamPage() {
  const { org, question } = useOrg();
  const id = useRoute().params.id ?? '';
  const team = useResource('GET /teams/{id}', { path: { id } });
  // Asked for together with the team, not after it.
  useMembers(id);
  useAssignments(org, /^\d{1,18}$/.test(id) ? teamGiven(id, '') : undefined);
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
      <Assignments
        org={org}
        given={teamGiven(team.id, team.name)}
        title="Roles"
        empty="No custom role is assigned to this team."
      />
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

/** The assignments of the team. */
function teamGiven(id: string | bigint, name: string): Given {
  return { to: { type: 'team', id: BigInt(id), name } };
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
    const saved = await version.save((ifMatch) => api.request('PATCH /teams/{id}', { path, body, ifMatch }));
    const former = { ...(body.name !== undefined && { name: team.name }), description: team.description };
    const undone = { ...former, ...(body.permission !== undefined && { permission: team.permission }) };
    notifyUndoable(`The team ${name.value} was saved.`, () =>
      api.call('PATCH /teams/{id}', { path, body: undone, ifMatch: saved.etag }),
    );
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
