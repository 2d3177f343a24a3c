import { useSignal } from '@preact/signals';
import { useAction } from '../../data/action.ts';
import { api } from '../../data/api.ts';
import { useList } from '../../data/resource.ts';
import { CheckField, SelectField, TextField } from '../../parts/field.tsx';
import { FormDialog } from '../../parts/form.tsx';
import { expiryOf, LIFETIMES } from '../../parts/token-lifetime.ts';
import { type Levels, ScopeMatrix, scopesOf } from './scope-matrix.tsx';

interface NewTokenProps {
  readonly username: string;
  readonly onClose: () => void;
  readonly onCreated: (text: string) => void;
}

/** If the sign-in is too long ago, the user proves first who they are, so a forgotten browser cannot make one. */
export function NewToken({ username, onClose, onCreated }: NewTokenProps) {
  const name = useSignal('');
  const days = useSignal('30');
  const organization = useSignal('');
  const organizations = useList('GET /user/orgs', { query: { limit: 50 } });
  const places = (organizations.data ?? []).map(({ username: org }) => ({ value: org, label: `only in ${org}` }));
  const isEverything = useSignal(false);
  const levels = useSignal<Levels>({});
  const scopes = isEverything.value ? (['all'] as const) : scopesOf(levels.value);
  const create = useAction(async () => {
    const token = await api.call('POST /users/{username}/tokens', {
      path: { username },
      body: {
        name: name.value.trim(),
        scopes,
        expires_at: expiryOf(days.value),
        ...(organization.value !== '' && { limits: { organizations: [organization.value] } }),
      },
    });
    onCreated(token.sha1);
  });
  return (
    <FormDialog
      title="New access token"
      verb="Create token"
      action={create}
      fields={['name', 'scopes', 'expires_at', 'limits']}
      disabledBecause={scopes.length === 0 ? 'Choose what the token may do.' : undefined}
      onClose={onClose}
    >
      <TextField
        label="Name"
        value={name}
        isRequired
        autoFocus
        autoComplete="off"
        hint="What it is for, such as the name of a machine."
        error={create.fieldError('name')}
      />
      <fieldset class="stack tight">
        <legend>What it may do</legend>
        <CheckField
          label="Everything that you may do"
          hint="Needed to sign in to the console with it, and for credentials of the message bus."
          isChecked={isEverything.value}
          onChange={(is) => (isEverything.value = is)}
        />
        {!isEverything.value && <ScopeMatrix levels={levels} />}
      </fieldset>
      <SelectField
        label="Where it works"
        value={organization}
        choices={[{ value: '', label: 'everywhere' }, ...places]}
        error={create.fieldError('limits')}
      />
      <SelectField label="Expires" value={days} choices={LIFETIMES} error={create.fieldError('expires_at')} />
    </FormDialog>
  );
}
