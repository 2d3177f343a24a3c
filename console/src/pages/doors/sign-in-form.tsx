import { useSignal } from '@preact/signals';
import { lazy } from 'preact-iso';
import { ApiError } from '../../../../client/errors.ts';
import { api } from '../../data/api.ts';
import { forgetProvider } from '../../data/last-provider.ts';
import { pageData } from '../../data/page-data.ts';
import { hasPasskeys, showPasskey } from '../../data/passkey.ts';
import { signedInAs } from '../../data/session.ts';
import { Button } from '../../parts/button.tsx';
import { messageOf } from '../../parts/fault.tsx';
import { CheckField, TextField } from '../../parts/field.tsx';
import { ProviderButtons } from './provider-buttons.tsx';

const SecondStep = lazy(async () => ({ default: (await import('./second-step.tsx')).SecondStep }));

interface SignInFormProps {
  readonly username?: string;
  /** A provider that is not offered. */
  readonly exceptProvider?: string;
  /** A session that is opened with a token may not do everything. */
  readonly hasTokens?: boolean;
  /** What the second step can be, if a provider was the first. */
  readonly secondStep?: readonly string[] | undefined;
}

/** A name and a password, a passkey, or a token. Used by the page, and by the dialog that covers a page whose session has ended. */
export function SignInForm({ username = '', exceptProvider, hasTokens = true, secondStep }: SignInFormProps) {
  const { passwords: hasPasswords, remember: mayRemember } = pageData.features;
  // Without passwords, a token is for emergencies, so it comes last.
  const usual = hasPasswords ? 'password' : undefined;
  const way = useSignal<'password' | 'token' | undefined>(usual);
  const name = useSignal(username);
  const password = useSignal('');
  const token = useSignal('');
  const remember = useSignal(false);
  const isRunning = useSignal(false);
  const problem = useSignal<string | undefined>(undefined);
  /** What the second step can be, if there is one. */
  const methods = useSignal(secondStep);
  const isToken = way.value === 'token';

  async function signIn(): Promise<void> {
    isRunning.value = true;
    problem.value = undefined;
    try {
      const proof = isToken ? { token: token.value.trim() } : { username: name.value, password: password.value };
      const user = await api.call('POST /user/signin', { body: { ...proof, remember: remember.value } });
      password.value = '';
      token.value = '';
      forgetProvider();
      signedInAs(user);
    } catch (error) {
      if (error instanceof ApiError && error.reason === 'second_factor_required') methods.value = error.secondFactor;
      else problem.value = describeSignIn(error, way.value ?? 'password');
    } finally {
      isRunning.value = false;
    }
  }

  async function signInWithPasskey(): Promise<void> {
    problem.value = undefined;
    try {
      const passkey = await showPasskey(await api.call('POST /user/signin/passkey/options', { body: {} }));
      if (passkey === undefined) return;
      const body = { passkey, remember: remember.value };
      const user = await api.call('POST /user/signin/passkey', { body });
      forgetProvider();
      signedInAs(user);
    } catch (error) {
      problem.value = describeSignIn(error, 'passkey');
    }
  }

  if (methods.value !== undefined) {
    return (
      <SecondStep
        methods={methods.value}
        onExpired={() => {
          methods.value = undefined;
          problem.value = 'That took too long. Sign in again.';
        }}
      />
    );
  }
  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault();
        void signIn();
      }}
    >
      {isToken && (
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
      )}
      {way.value === 'password' && (
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
      {way.value === undefined && problem.value !== undefined && (
        <p class="problem" role="alert">
          {problem.value}
        </p>
      )}
      {mayRemember && (
        <CheckField label="Keep me signed in" isChecked={remember.value} onChange={(is) => (remember.value = is)} />
      )}
      {way.value !== undefined && (
        <Button kind="main" type="submit" isBusy={isRunning.value} busyLabel="Signing in">
          Sign in
        </Button>
      )}
      <div class="stack tight">
        {!hasPasswords && <ProviderButtons remember={remember.value} except={exceptProvider} />}
        {hasPasskeys() && (!isToken || !hasPasswords) && (
          <Button onClick={() => void signInWithPasskey()}>Sign in with a passkey</Button>
        )}
        {hasPasswords && <ProviderButtons remember={remember.value} except={exceptProvider} />}
      </div>
      {hasTokens && way.value === 'password' && (
        <p>
          <a href="/signin/forgot">Forgot your password?</a>
        </p>
      )}
      {hasTokens && pageData.features.signUp && (
        <p>
          <a href="/signin/signup">Create an account</a>
        </p>
      )}
      {hasTokens && (
        <p>
          <button
            type="button"
            class="link-button"
            onClick={() => {
              way.value = isToken ? usual : 'token';
              problem.value = undefined;
            }}
          >
            {!isToken ? 'Use a token instead' : hasPasswords ? 'Use a password instead' : 'Use a provider instead'}
          </button>
        </p>
      )}
    </form>
  );
}

/** The API answers 404 for a wrong name, a wrong password and a wrong token. */
export function describeSignIn(error: unknown, way: 'password' | 'token' | 'passkey'): string {
  if (!(error instanceof ApiError)) return messageOf(error);
  if (way === 'passkey' && error.status === 401) return 'This passkey is not known here, or it was not unlocked.';
  if (error.status === 404 || error.status === 401) {
    return way === 'token' ? 'This token does not exist, or it has expired.' : 'The username or the password is wrong.';
  }
  if (error.status === 429) return `Too many attempts. Try again in ${error.retryAfter ?? 60} s.`;
  return messageOf(error);
}
