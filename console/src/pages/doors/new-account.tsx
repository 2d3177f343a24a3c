import { useSignal } from '@preact/signals';
import type { Answer } from '../../../../client/client.ts';
import { ApiError } from '../../../../client/errors.ts';
import { useAction } from '../../data/action.ts';
import { api } from '../../data/api.ts';
import { orgPath } from '../../data/org.ts';
import { Button } from '../../parts/button.tsx';
import { TextField } from '../../parts/field.tsx';
import { Form } from '../../parts/form.tsx';

interface NewAccountProps {
  readonly code: string;
  readonly invitation: Answer<'GET /invitations/{code}'>;
  /** There is an account with the address already. */
  readonly onPresent: () => void;
}

/** Creates an account by accepting an invitation. The page signs in afterwards, as at any other time. */
export function NewAccount({ code, invitation, onPresent }: NewAccountProps) {
  const { email, organization } = invitation;
  const username = useSignal('');
  const fullName = useSignal('');
  const password = useSignal('');
  const create = useAction(async () => {
    const body = { username: username.value, password: password.value, full_name: fullName.value };
    await api.call('POST /invitations/{code}/accept', { path: { code }, body });
    try {
      const credentials = { username: username.value, password: password.value, remember: false };
      await api.call('POST /user/signin', { body: credentials });
    } catch {
      // The account exists, so the sign-in page is the place to go on.
    }
    password.value = '';
    location.assign(orgPath(organization.name));
  });
  const isTaken = create.error instanceof ApiError && create.error.reason === 'email_taken';
  return (
    <Form action={create} verb="Create account and join" fields={['username', 'password', 'full_name']}>
      <TextField
        label="Username"
        value={username}
        isRequired
        autoFocus
        autoComplete="username"
        hint="1 to 40 letters, digits or single hyphens. Other users see it."
        error={create.fieldError('username')}
      />
      <TextField label="Full name" value={fullName} autoComplete="name" error={create.fieldError('full_name')} />
      <TextField
        label="Password"
        type="password"
        value={password}
        isRequired
        autoComplete="new-password"
        hint={`At least 8 characters. The account gets the address ${email}.`}
        error={create.fieldError('password')}
      />
      {isTaken && (
        <div>
          <Button onClick={onPresent}>Sign in to that account</Button>
        </div>
      )}
    </Form>
  );
}
