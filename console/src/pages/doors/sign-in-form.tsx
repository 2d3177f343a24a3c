import { useSignal } from '@preact/signals';
import { ApiError } from '../../../../client/errors.ts';
import { api } from '../../data/api.ts';
import { signedInAs } from '../../data/session.ts';
import { Button } from '../../parts/button.tsx';
import { messageOf } from '../../parts/fault.tsx';
import { CheckField, TextField } from '../../parts/field.tsx';

/** Name and password. Used by the page, and by the dialog that covers a page whose session has ended. */
export function SignInForm({ username = '' }: { username?: string }) {
  const name = useSignal(username);
  const password = useSignal('');
  const remember = useSignal(false);
  const isRunning = useSignal(false);
  const problem = useSignal<string | undefined>(undefined);

  async function signIn(): Promise<void> {
    isRunning.value = true;
    problem.value = undefined;
    try {
      const body = { username: name.value, password: password.value, remember: remember.value };
      const user = await api.call('POST /user/signin', { body });
      password.value = '';
      signedInAs(user);
    } catch (error) {
      problem.value = describe(error);
    } finally {
      isRunning.value = false;
    }
  }

  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault();
        void signIn();
      }}
    >
      <TextField label="Username" value={name} autoComplete="username" isRequired autoFocus={username === ''} />
      <TextField
        label="Password"
        type="password"
        value={password}
        autoComplete="current-password"
        isRequired
        autoFocus={username !== ''}
        error={problem.value}
      />
      <CheckField label="Keep me signed in" isChecked={remember.value} onChange={(is) => (remember.value = is)} />
      <Button kind="main" type="submit" isBusy={isRunning.value} busyLabel="Signing in">
        Sign in
      </Button>
    </form>
  );
}

/** The API answers 404 for both a wrong name and a wrong password. */
function describe(error: unknown): string {
  if (!(error instanceof ApiError)) return messageOf(error);
  if (error.status === 404 || error.status === 401) return 'The username or the password is wrong.';
  if (error.status === 429) return `Too many attempts. Try again in ${error.retryAfter ?? 60} s.`;
  return messageOf(error);
}
