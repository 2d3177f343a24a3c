import { useSignal } from '@preact/signals';
import { useAction } from '../../data/action.ts';
import { useAllowed } from '../../data/allowed.ts';
import { api } from '../../data/api.ts';
import { leaving, makeChange } from '../../data/make-change.ts';
import { notifyUndoable } from '../../data/undo.ts';
import { chosenExpiry, ExpiryField, previewedExpiry, useExpiry } from '../../parts/expiry.tsx';
import { SelectField } from '../../parts/field.tsx';
import { FormDialog } from '../../parts/form.tsx';
import { Impact } from '../../parts/impact.tsx';
import { notify } from '../../parts/toast.tsx';
import { UserPicker } from '../../parts/user-picker.tsx';
import { permissionWord } from '../teams/permission-words.ts';
import type { MemberTeam } from './team-chips.tsx';

const FIRST_TEAM = 'Viewers';

interface AddMemberProps {
  readonly org: string;
  readonly teams: readonly MemberTeam[];
  readonly onClose: () => void;
}

/** Puts a user who has an account into a team, which makes them a member. */
export function AddMember({ org, teams, onClose }: AddMemberProps) {
  const login = useSignal('');
  const isKnown = useSignal(false);
  const team = useSignal(FIRST_TEAM);
  const expiry = useExpiry();
  const { may } = useAllowed(
    org,
    teams.map(({ id }) => ({ type: 'team', id })),
  );
  // A caller who may add people may add them as viewers; other teams have rules of their own.
  const open = teams.filter(({ id, name }) => name === FIRST_TEAM || may('can_add_member', { type: 'team', id }));
  const add = useAction(async () => {
    const username = login.value;
    const body = { team: team.value, expires_at: chosenExpiry(expiry) ?? undefined };
    const id = teams.find(({ name }) => name === team.value)?.id;
    const inverse = id === undefined ? undefined : await leaving(id, username);
    await api.call('PUT /orgs/{org}/members/{username}', { path: { org, username }, body });
    const text = `${username} was added to ${team.value}.`;
    if (inverse) notifyUndoable(text, () => makeChange(org, inverse));
    else notify({ kind: 'ok', text });
  });
  return (
    <FormDialog
      title={`Add a person to ${org}`}
      verb="Add person"
      action={add}
      fields={['expires_at']}
      onClose={onClose}
      disabledBecause={isKnown.value ? undefined : 'Choose a person first.'}
    >
      <UserPicker
        label="Person"
        value={login}
        isKnown={isKnown}
        hint="Only people with an account can be added. Invite other people by their address."
      />
      <SelectField
        label="Team"
        value={team}
        hint="They hold what the team grants, from the moment they are in it."
        choices={(open.length > 0 ? open : [{ name: FIRST_TEAM, permission: 'read' }]).map(({ name, permission }) => ({
          value: name,
          label: `${name} (${permissionWord(permission)})`,
        }))}
      />
      <ExpiryField choice={expiry} error={add.fieldError('expires_at')} />
      <Impact
        org={org}
        changes={
          !isKnown.value
            ? undefined
            : [{ action: 'member.add', username: login.value, team: team.value, ...previewedExpiry(expiry) }]
        }
        hint="Choose a person, and this shows what they gain."
      />
    </FormDialog>
  );
}
