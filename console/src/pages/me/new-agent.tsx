import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { useAction } from '../../data/action.ts';
import { api } from '../../data/api.ts';
import { useList } from '../../data/resource.ts';
import { CheckField, SelectField, TextField } from '../../parts/field.tsx';
import { FormDialog } from '../../parts/form.tsx';

interface NewAgentProps {
  readonly username: string;
  readonly onClose: () => void;
  readonly onCreated: (text: string) => void;
}

const READING = ['read:authz', 'read:organization'] as const;

export function NewAgent({ username, onClose, onCreated }: NewAgentProps) {
  const name = useSignal('');
  const organization = useSignal('');
  const mayAsk = useSignal(false);
  const organizations = useList('GET /user/orgs', { query: { limit: 50 } });
  const places = (organizations.data ?? []).map(({ username: org }) => ({ value: org, label: org }));
  const first = places[0]?.value ?? '';
  useEffect(() => {
    if (organization.value === '') organization.value = first;
  }, [first]);
  const create = useAction(async () => {
    const token = await api.call('POST /users/{username}/tokens', {
      path: { username },
      body: {
        name: name.value.trim(),
        delegated: true,
        scopes: [...READING, ...(mayAsk.value ? (['write:authz'] as const) : [])],
        limits: { organizations: [organization.value] },
      },
    });
    onCreated(token.sha1);
  });
  return (
    <FormDialog
      title="New agent"
      verb="Create token"
      action={create}
      fields={['name', 'limits']}
      disabledBecause={organization.value === '' ? 'Choose what the agent may read.' : undefined}
      onClose={onClose}
    >
      <p class="quiet">
        The agent reads what you may read there. It changes nothing and approves nothing. It ends after an hour, when
        you end it, or when you sign out.
      </p>
      <TextField
        label="Name of the agent"
        value={name}
        isRequired
        autoFocus
        autoComplete="off"
        hint="The audit log shows it next to yours."
        error={create.fieldError('name')}
      />
      <SelectField
        label="Organization"
        value={organization}
        choices={[{ value: '', label: 'choose one' }, ...places]}
        error={create.fieldError('limits')}
      />
      <CheckField
        label="It may ask for access"
        hint="In your name. Other people decide about it."
        isChecked={mayAsk.value}
        onChange={(is) => (mayAsk.value = is)}
      />
    </FormDialog>
  );
}
