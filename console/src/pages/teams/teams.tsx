import { useSignal } from '@preact/signals';
import { useLocation } from 'preact-iso';
import { useAction } from '../../data/action.ts';
import { api } from '../../data/api.ts';
import { orgPath, useOrg } from '../../data/org.ts';
import { useList } from '../../data/resource.ts';
import { Chip } from '../../parts/bits.tsx';
import { Button } from '../../parts/button.tsx';
import { SelectField, TextField } from '../../parts/field.tsx';
import { FormDialog } from '../../parts/form.tsx';
import { Page, Show } from '../../parts/page.tsx';
import { Table } from '../../parts/table.tsx';
import { notify } from '../../parts/toast.tsx';
import { PERMISSIONS, permissionWord } from './permission-words.ts';

/** The form of a new team has an address of its own. */
export function TeamsPage() {
  const { org, whyNot, question } = useOrg();
  const { route, path } = useLocation();
  const form = orgPath(org, '/teams/new');
  // Also called after a team was created, whose page is open then.
  const close = () => location.pathname === form && route(orgPath(org, '/teams'));
  const cannotCreate = whyNot('can_create_team', 'create teams');
  const teams = useList('GET /orgs/{org}/teams', { path: { org }, query: { limit: 50 } });
  return (
    <Page
      title="Teams"
      within={org}
      lead="People hold permissions through their teams: by the permission of the team, and by its roles."
      isStale={teams.isStale}
      actions={
        <span data-key="n">
          <Button kind="main" icon="plus" whyNot={cannotCreate} onClick={() => route(form)}>
            New team
          </Button>
        </span>
      }
    >
      <Show of={teams} whyNot={question('can_view_teams', 'see the teams')}>
        {(all) => (
          <Table
            caption="Teams"
            rows={all}
            keyOf={(team) => String(team.id)}
            hrefOf={(team) => orgPath(org, `/teams/${team.id}`)}
            total={teams.total}
            hasMore={teams.hasMore}
            onMore={teams.loadMore}
            columns={[
              { key: 'name', title: 'Name', cell: (team) => <bdi>{team.name}</bdi> },
              {
                key: 'permission',
                title: 'Permission',
                cell: (team) => <Chip>{permissionWord(team.permission)}</Chip>,
              },
              { key: 'members', title: 'Members', cell: (team) => team.member_count, isNumber: true },
              { key: 'roles', title: 'Roles', cell: (team) => team.role_ids.length, isNumber: true },
              {
                key: 'description',
                title: 'Description',
                cell: (team) => <bdi class="quiet">{team.description}</bdi>,
                isMinor: true,
              },
            ]}
          />
        )}
      </Show>
      {path === form && !cannotCreate && <NewTeam org={org} onClose={close} />}
    </Page>
  );
}

function NewTeam({ org, onClose }: { org: string; onClose: () => void }) {
  const { route } = useLocation();
  const name = useSignal('');
  const description = useSignal('');
  const permission = useSignal('none');
  const create = useAction(async () => {
    const team = await api.call('POST /orgs/{org}/teams', {
      path: { org },
      body: {
        name: name.value,
        description: description.value,
        permission: permission.value as (typeof PERMISSIONS)[number]['value'],
      },
    });
    notify({ kind: 'ok', text: `The team ${team.name} was created.` });
    route(orgPath(org, `/teams/${team.id}`));
  });
  return (
    <FormDialog title="New team" verb="Create team" action={create} fields={['name', 'description']} onClose={onClose}>
      <TextField label="Name" value={name} isRequired autoFocus error={create.fieldError('name')} />
      <TextField label="Description" value={description} error={create.fieldError('description')} />
      <SelectField label="Permission" value={permission} choices={PERMISSIONS} />
    </FormDialog>
  );
}
