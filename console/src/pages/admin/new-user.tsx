import { useSignal } from '@preact/signals';
import { useLocation } from 'preact-iso';
import { useAction } from '../../data/action.ts';
import { api } from '../../data/api.ts';
import { CheckField, TextField } from '../../parts/field.tsx';
import { FormDialog } from '../../parts/form.tsx';
import { notify } from '../../parts/toast.tsx';
import { adminUserPath } from './user-state.tsx';

const FIELDS = ['username', 'email', 'full_name', 'password'] as const;

/** People do not sign up by themselves: a site administrator creates every account. */
export function NewUser({ onClose }: { onClose: () => void }) {
  const { route } = useLocation();
  const username = useSignal('');
  const email = useSignal('');
  const fullName = useSignal('');
  const password = useSignal('');
  const isAdmin = useSignal(false);
  const create = useAction(async () => {
    const user = await api.call('POST /admin/users', {
      body: {
        username: username.value.trim(),
        email: email.value.trim(),
        full_name: fullName.value.trim(),
        password: password.value === '' ? undefined : password.value,
        admin: isAdmin.value,
      },
    });
    password.value = '';
    notify({ kind: 'ok', text: `The account ${user.login} was created.` });
    route(adminUserPath(user.login));
  });
  return (
    <FormDialog title="New person" verb="Create person" action={create} fields={FIELDS} onClose={onClose}>
      <TextField
        label="Username"
        value={username}
        isRequired
        autoFocus
        autoComplete="off"
        hint="Used in addresses and commands: letters, digits, hyphens. It cannot be changed later."
        error={create.fieldError('username')}
      />
      <TextField
        label="Email"
        type="email"
        value={email}
        isRequired
        autoComplete="off"
        error={create.fieldError('email')}
      />
      <TextField label="Full name" value={fullName} autoComplete="off" error={create.fieldError('full_name')} />
      <TextField
        label="Password"
        type="password"
        value={password}
        autoComplete="new-password"
        hint="8 to 255 characters. Without one, they cannot sign in until you set one."
        error={create.fieldError('password')}
      />
      <CheckField
        label="Site administrator"
        hint="Sees and changes everything in this deployment."
        isChecked={isAdmin.value}
        onChange={(isChecked) => (isAdmin.value = isChecked)}
      />
    </FormDialog>
  );
}
