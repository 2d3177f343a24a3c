import { useSignal } from '@preact/signals';
import { useAction } from '../../data/action.ts';
import { api } from '../../data/api.ts';
import { TextField } from '../../parts/field.tsx';
import { FormDialog } from '../../parts/form.tsx';
import { notify } from '../../parts/toast.tsx';
import type { User } from './user-state.tsx';

const FIELDS = ['full_name', 'email', 'location', 'website', 'description'] as const;

interface EditUserProps {
  readonly user: User;
  readonly etag: string | undefined;
  readonly onClose: () => void;
}

export function EditUser({ user, etag, onClose }: EditUserProps) {
  const values = {
    full_name: useSignal(user.full_name),
    email: useSignal(user.email),
    location: useSignal(user.location),
    website: useSignal(user.website),
    description: useSignal(user.description),
  };
  const save = useAction(async () => {
    // Only what was changed: writing the same address again would be a change in the audit log.
    const body = Object.fromEntries(
      FIELDS.filter((field) => values[field].value !== user[field]).map((field) => [field, values[field].value]),
    );
    await api.call('PATCH /admin/users/{username}', { path: { username: user.login }, body, ifMatch: etag });
    notify({ kind: 'ok', text: `The profile of ${user.login} was saved.` });
  });
  return (
    <FormDialog title={`Edit ${user.login}`} verb="Save person" action={save} fields={FIELDS} onClose={onClose}>
      <TextField label="Full name" value={values.full_name} autoFocus error={save.fieldError('full_name')} />
      <TextField
        label="Email"
        type="email"
        value={values.email}
        isRequired
        hint="The primary address. A new one counts as verified, because you set it."
        error={save.fieldError('email')}
      />
      <TextField label="Location" value={values.location} error={save.fieldError('location')} />
      <TextField label="Website" type="url" value={values.website} error={save.fieldError('website')} />
      <TextField label="About" value={values.description} rows={3} error={save.fieldError('description')} />
    </FormDialog>
  );
}

export function SetPassword({ login, onClose }: { login: string; onClose: () => void }) {
  const password = useSignal('');
  const save = useAction(async () => {
    const body = { password: password.value };
    await api.call('PATCH /admin/users/{username}', { path: { username: login }, body });
    password.value = '';
    notify({ kind: 'ok', text: `${login} has a new password. All their sessions have ended.` });
  });
  return (
    <FormDialog
      title={`Set a new password for ${login}`}
      verb="Set password"
      action={save}
      fields={['password']}
      onClose={onClose}
    >
      <p>All their sessions end. Access tokens stay valid. Ask them to change it after they signed in.</p>
      <TextField
        label="New password"
        type="password"
        value={password}
        isRequired
        autoFocus
        autoComplete="new-password"
        hint="8 to 255 characters."
        error={save.fieldError('password')}
      />
    </FormDialog>
  );
}
