import { useSignal } from '@preact/signals';
import { ApiError } from '../../../../client/errors.ts';
import { api } from '../../data/api.ts';
import { pageData } from '../../data/page-data.ts';
import { signedInAs } from '../../data/session.ts';
import { Button } from '../../parts/button.tsx';
import { messageOf } from '../../parts/fault.tsx';
import { CheckField, TextField } from '../../parts/field.tsx';
import { ProviderButtons } from './provider-buttons.tsx';

/** A name and a password, or a token. Used by the page, and by the dialog that covers a page whose session has ended. */
export function SignInForm({ username = '', hasProviders = true }: { username?: string; hasProviders?: boolean }) {
  const way = useSignal<'password' | 'token'>(pageData.features.passwords ? 'password' : 'token');
  const name = useSignal(username);
  const password = useSignal('');
  const token = useSignal('');
  const remember = useSignal(false);
  const isRunning = useSignal(false);
  const problem = useSignal<string | undefined>(undefined);
  const isToken = way.value === 'token';

  async function signIn(): Promise<void> {
    isRunning.value = true;
    problem.value = undefined;
    try {
      const proof = isToken ? { token: token.value.trim() } : { username: name.value, password: password.value };
      const user = await api.call('POST /user/signin', { body: { ...proof, remember: remember.value } });
      password.value = '';
      token.value = '';
      signedInAs(user);
    } catch (error) {
      problem.value = describeSignIn(error, way.value);
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
      {isToken ? (
        <TextField
          key="token"
          label="Access token"
          type="password"
          value={token}
          autoComplete="off"
          isRequired
          autoFocus
          hint="A personal token with the scope all. The session ends with it."
          error={problem.value}
        />
      ) : (
        <>
          <TextField
            key="name"
            label="Username"
            value={name}
            autoComplete="username"
            isRequired
            autoFocus={username === ''}
          />
          <TextField
            key="password"
            label="Password"
            type="password"
            value={password}
            autoComplete="current-password"
            isRequired
            autoFocus={username !== ''}
            error={problem.value}
          />
        </>
      )}
      <CheckField label="Keep me signed in" isChecked={remember.value} onChange={(is) => (remember.value = is)} />
      <Button kind="main" type="submit" isBusy={isRunning.value} busyLabel="Signing in">
        Sign in
      </Button>
      {hasProviders && <ProviderButtons remember={remember.value} />}
      {pageData.features.passwords && (
        <p>
          <button
            type="button"
            class="link-button"
            onClick={() => {
              way.value = isToken ? 'password' : 'token';
              problem.value = undefined;
            }}
          >
            {isToken ? 'Use a password instead' : 'Use a token instead'}
          </button>
        </p>
      )}
    </form>
  );
}

/** The API answers 404 for a wrong name, a wrong password and a wrong token. */
export function describeSignIn(error: unknown, way: 'password' | 'token'): string {
  if (!(error instanceof ApiError)) return messageOf(error);
  if (error.status === 404 || error.status === 401) {
    return way === 'token' ? 'This token does not exist, or it has expired.' : 'The username or the password is wrong.';
  }
  if (error.status === 429) return `Too many attempts. Try again in ${error.retryAfter ?? 60} s.`;
  return messageOf(error);
}
