import { useSignal } from '@preact/signals';
import { ApiError } from '../../../../client/errors.ts';
import { api } from '../../data/api.ts';
import { Button } from '../../parts/button.tsx';
import { messageOf } from '../../parts/fault.tsx';
import { TextField } from '../../parts/field.tsx';

/** Root of a new deployment has a token and no password. */
export function FirstPassword({ login, onDone }: { login: string; onDone: () => void }) {
  const password = useSignal('');
  const isRunning = useSignal(false);
  const problem = useSignal<string | undefined>(undefined);
  const isSetAlready = useSignal(false);

  async function save(): Promise<void> {
    isRunning.value = true;
    problem.value = undefined;
    try {
      await api.call('PUT /user/password', { body: { new: password.value } });
      // What a session that a token opened creates must end before that token. One of a password has no such limit.
      const signIn = { username: login, password: password.value };
      await api.call('POST /user/signin', { body: signIn }).catch(() => undefined);
      password.value = '';
      onDone();
    } catch (error) {
      isSetAlready.value = error instanceof ApiError && error.reason === 'wrong_password';
      problem.value = isSetAlready.value ? undefined : messageOf(error);
    } finally {
      isRunning.value = false;
    }
  }

  if (isSetAlready.value) {
    return (
      <>
        <p role="alert">{login} has a password already. You can change it under My account, if you know it.</p>
        <div class="line">
          <Button kind="main" onClick={onDone}>
            Continue
          </Button>
        </div>
      </>
    );
  }
  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault();
        void save();
      }}
    >
      <p>Set a password, so that you can sign in without this link.</p>
      {/* For password managers, which save a password under a name. */}
      <input type="text" name="username" autoComplete="username" value={login} hidden readOnly />
      <TextField
        label="New password"
        type="password"
        value={password}
        autoComplete="new-password"
        isRequired
        autoFocus
        hint="8 to 255 characters."
        error={problem.value}
      />
      <div class="line">
        <Button kind="main" type="submit" isBusy={isRunning.value}>
          Set password
        </Button>
        <Button onClick={onDone}>Skip</Button>
      </div>
    </form>
  );
}
