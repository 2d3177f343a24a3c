import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { useLocation, useRoute } from 'preact-iso';
import { ApiError } from '../../../../client/errors.ts';
import { useAction } from '../../data/action.ts';
import { api } from '../../data/api.ts';
import { useDraft } from '../../data/draft.ts';
import { orgPath, useOrg } from '../../data/org.ts';
import { type Resource, useResource } from '../../data/resource.ts';
import { notifyUndoable } from '../../data/undo.ts';
import { Card } from '../../parts/bits.tsx';
import { Button } from '../../parts/button.tsx';
import { Confirm } from '../../parts/confirm.tsx';
import { Fault } from '../../parts/fault.tsx';
import { CheckField, TextField } from '../../parts/field.tsx';
import { Impact } from '../../parts/impact.tsx';
import { ObjectLink } from '../../parts/marked-name.tsx';
import { Page, Show, ShowPage } from '../../parts/page.tsx';
import { Assignments, PlaceLink, useAssignments } from '../assignments/assignments.tsx';
import { Conflict } from './conflict.tsx';
import { PermissionList } from './permission-list.tsx';
import {
  bodyOf,
  type Draft,
  draftOf,
  EMPTY_DRAFT,
  isSame,
  newBodyOf,
  plannedRole,
  type Role,
  toggled,
} from './role-draft.ts';
import './roles.css';

const HOLDERS = 'holders';
const SHOWN_HOLDERS = 5;

export function RolePage() {
  const { org, question } = useOrg();
  const id = useRoute().params.id ?? '';
  const role = useResource('GET /authz/roles/{id}', { path: { id }, query: { org } });
  return (
    <ShowPage title="Role" within={org} of={role} whyNot={question('can_view_roles', 'see the roles')}>
      {(found) => <RoleEditor key={id} saved={found} etag={role.etag} current={role} />}
    </ShowPage>
  );
}

export function NewRolePage() {
  return <RoleEditor saved={undefined} etag={undefined} current={undefined} />;
}

interface EditorProps {
  readonly saved: Role | undefined;
  readonly etag: string | undefined;
  readonly current: Resource<Role> | undefined;
}

/** Permissions on the left, who gains and loses on the right, before anything is saved. */
function RoleEditor({ saved: role, etag, current }: EditorProps) {
  const { org, whyNot } = useOrg();
  const { route } = useLocation();
  const catalog = useResource('GET /authz/roles/available_permissions', { query: { org } });
  // What was read when editing began; the role may have changed since.
  const base = useSignal({ draft: role ? draftOf(role) : EMPTY_DRAFT, etag });
  const draft = useSignal<Draft>(base.value.draft);
  const name = useSignal(draft.value.name);
  const description = useSignal(draft.value.description);
  const isDeleting = useSignal(false);
  const now: Draft = { ...draft.value, name: name.value, description: description.value };
  const isChanged = !isSame(now, base.value.draft);
  const all = catalog.data?.permissions ?? [];
  const isDone = useRef(false);
  useDraft(isChanged && !isDone.current);

  // Assigning the role to a team is a new version of it. So is what other users save while nothing is edited here.
  useEffect(() => {
    if (!role || etag === base.value.etag) return;
    const theirs = draftOf(role);
    const isSameContent = isSame(theirs, base.value.draft);
    if (!isSameContent && isChanged) return;
    base.value = { draft: theirs, etag };
    if (!isSameContent) take(theirs);
  }, [etag]);

  const cannotEdit = role ? whyNot('can_edit_roles', 'change this role') : whyNot('can_create_role', 'create roles');
  const save = useAction(async () => {
    if (!role) {
      const created = await api.call('POST /authz/roles', { query: { org }, body: newBodyOf(now) });
      isDone.current = true;
      notifyUndoable(`The role ${created.name} was created.`, async () => {
        await api.call('DELETE /authz/roles/{id}', { path: { id: created.id }, query: { org } });
        route(orgPath(org, '/roles'));
      });
      route(orgPath(org, `/roles/${created.id}`));
      return;
    }
    const path = { id: role.id };
    const reply = await api.request('PUT /authz/roles/{id}', {
      path,
      query: { org },
      body: bodyOf(now),
      ifMatch: base.value.etag,
    });
    const former = base.value.draft;
    base.value = { draft: draftOf(reply.data), etag: reply.etag };
    // The version of this save: what other users save within these seconds is not lost.
    notifyUndoable(`The role ${reply.data.name} was saved.`, () =>
      api.call('PUT /authz/roles/{id}', { path, query: { org }, body: bodyOf(former), ifMatch: reply.etag }),
    );
  });
  const isConflict = save.error instanceof ApiError && save.error.status === 412;

  function take(theirs: Draft): void {
    draft.value = theirs;
    name.value = theirs.name;
    description.value = theirs.description;
  }

  return (
    <Page
      title={role?.name ?? 'New role'}
      within={org}
      lead={role ? undefined : 'Choose what its teams may do. The preview shows who would gain it.'}
      actions={
        role && (
          <Button
            kind="danger"
            whyNot={whyNot('can_delete_roles', 'delete this role')}
            onClick={() => (isDeleting.value = true)}
          >
            Delete role
          </Button>
        )
      }
    >
      <form
        class="with-panel"
        onSubmit={(event) => {
          event.preventDefault();
          void save.run();
        }}
        onKeyDown={(event) => {
          if (event.key === 'Enter' && (event.metaKey || event.ctrlKey) && isChanged && !cannotEdit) void save.run();
        }}
      >
        <div class="stack">
          <div class="form">
            <TextField
              label="Name"
              value={name}
              isRequired
              isReadOnly={cannotEdit !== undefined}
              error={save.fieldError('name')}
              autoFocus={!role}
            />
            <TextField
              label="Description"
              value={description}
              isReadOnly={cannotEdit !== undefined}
              error={save.fieldError('description')}
            />
          </div>
          <Show of={catalog} rows={8}>
            {({ permissions }) => (
              <PermissionList
                all={permissions}
                chosen={draft.value.permissions}
                isReadOnly={cannotEdit !== undefined}
                onToggle={(key, isOn) => {
                  draft.value = toggled(draft.value, key, isOn, all);
                }}
              />
            )}
          </Show>
        </div>
        <div class="panel stack">
          <Impact org={org} changes={isChanged && !cannotEdit ? [plannedRole(role?.id, now)] : undefined} />
          {!role && (
            <FirstTeams
              org={org}
              chosen={draft.value.teamIds}
              onChange={(teamIds) => (draft.value = { ...draft.value, teamIds })}
            />
          )}
          {isConflict && role ? (
            <Conflict
              org={org}
              roleId={role.id}
              base={base.value.draft}
              mine={now}
              onKeepMine={(theirEtag) => {
                base.value = { ...base.value, etag: theirEtag };
                void save.run();
              }}
              onTakeTheirs={(theirs, theirEtag) => {
                base.value = { draft: theirs, etag: theirEtag };
                take(theirs);
                save.clear();
                current?.reload();
              }}
            />
          ) : (
            <Fault error={save.fieldError('name') || save.fieldError('description') ? undefined : save.error} />
          )}
          <div class="line">
            <Button
              kind="main"
              type="submit"
              isBusy={save.isRunning}
              whyNot={cannotEdit}
              disabledBecause={isChanged ? undefined : 'Nothing has changed.'}
            >
              {role ? 'Save role' : 'Create role'}
            </Button>
            {isChanged && role && <Button onClick={() => take(base.value.draft)}>Discard changes</Button>}
          </div>
          {role && <FirstHolders org={org} role={role} />}
        </div>
      </form>
      {role && (
        <div id={HOLDERS}>
          <Assignments
            org={org}
            given={{ role: { id: role.id, name: role.name } }}
            title="Who has this role"
            empty="This role is not assigned yet."
          />
        </div>
      )}
      {isDeleting.value && role && (
        <Confirm
          title={`Delete the role ${role.name}?`}
          verb="Delete role"
          typedName={role.name}
          done={`The role ${role.name} was deleted.`}
          change={() => api.call('DELETE /authz/roles/{id}', { path: { id: role.id }, query: { org } })}
          onClose={() => (isDeleting.value = false)}
          onDone={() => route(orgPath(org, '/roles'))}
        >
          <Impact org={org} changes={[{ action: 'role.delete', id: role.id }]} />
          <p>This cannot be undone.</p>
        </Confirm>
      )}
    </Page>
  );
}

/** The first ones. The whole list is below all permissions. */
function FirstHolders({ org, role }: { org: string; role: Role }) {
  const { data = [], total = 0 } = useAssignments(org, { role });
  if (total === 0) return null;
  return (
    <Card title="Assigned to" actions={<a href={`#${HOLDERS}`}>{`All (${total})`}</a>}>
      <ul class="stack tight">
        {data.slice(0, SHOWN_HOLDERS).map(({ id, to, on }) => (
          <li key={String(id)}>
            <ObjectLink org={org} of={to} /> on <PlaceLink org={org} on={on} />
          </li>
        ))}
      </ul>
    </Card>
  );
}

interface FirstTeamsProps {
  readonly org: string;
  readonly chosen: readonly string[];
  readonly onChange: (teamIds: readonly string[]) => void;
}

/** The teams that a new role is assigned to with its creation. */
function FirstTeams({ org, chosen, onChange }: FirstTeamsProps) {
  const teams = useResource('GET /orgs/{org}/teams', { path: { org }, query: { limit: 50 } });
  return (
    <Card title="Teams with this role">
      <Show of={teams}>
        {(every) => (
          <div class="stack tight">
            {every.map((team) => (
              <CheckField
                key={String(team.id)}
                label={team.name}
                isChecked={chosen.includes(String(team.id))}
                onChange={(isOn) => {
                  const others = chosen.filter((one) => one !== String(team.id));
                  onChange(isOn ? [...others, String(team.id)] : others);
                }}
              />
            ))}
          </div>
        )}
      </Show>
    </Card>
  );
}
