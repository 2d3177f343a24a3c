import { useSignal } from '@preact/signals';
import { useAction } from '../../data/action.ts';
import { api } from '../../data/api.ts';
import { me } from '../../data/session.ts';
import { TextField } from '../../parts/field.tsx';
import { Form } from '../../parts/form.tsx';
import { notify } from '../../parts/toast.tsx';
import { MePage } from './me-page.tsx';

export function PasswordPage() {
  const current = useSignal('');
  const next = useSignal('');
  const again = useSignal('');
  const isDifferent = again.value !== '' && again.value !== next.value;
  const change = useAction(async () => {
    const body = { new: next.value, ...(current.value !== '' && { current: current.value }) };
    await api.call('PUT /user/password', { body });
    for (const field of [current, next, again]) field.value = '';
    notify({ kind: 'ok', text: 'The password was changed. All your other sessions have ended.' });
  });
  return (
    <MePage title="Password" lead="A new password ends all your other sessions. Access tokens stay valid.">
      <Form
        action={change}
        verb="Change password"
        fields={['current', 'new']}
        disabledBecause={isDifferent ? 'The two new passwords differ.' : undefined}
      >
        {/* For password managers, which save a password under a name. */}
        <input type="text" name="username" autoComplete="username" value={me.value?.login} hidden readOnly />
        <TextField
          label="Current password"
          type="password"
          value={current}
          autoComplete="current-password"
          hint="Leave it empty if you have none, or if you signed in with it less than 10 minutes ago."
          error={change.fieldError('current')}
        />
        <TextField
          label="New password"
          type="password"
          value={next}
          autoComplete="new-password"
          isRequired
          hint="8 to 255 characters."
          error={change.fieldError('new')}
        />
        <TextField
          label="New password again"
          type="password"
          value={again}
          autoComplete="new-password"
          isRequired
          error={isDifferent ? 'The two new passwords differ.' : undefined}
        />
      </Form>
    </MePage>
  );
}
