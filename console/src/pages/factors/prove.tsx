import { useSignal } from '@preact/signals';
import { api } from '../../data/api.ts';
import { pageData } from '../../data/page-data.ts';
import { hasPasskeys, showPasskey } from '../../data/passkey.ts';
import { proven } from '../../data/proof.ts';
import { useResource } from '../../data/resource.ts';
import { me, signedInAs } from '../../data/session.ts';
import { openSignInWindow } from '../../data/sign-in-window.ts';
import { Button } from '../../parts/button.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { messageOf } from '../../parts/fault.tsx';
import { TextField } from '../../parts/field.tsx';

/** Before something sensitive, if the sign-in is too long ago. The request that was rejected goes on afterwards. */
export function Prove() {
  const factors = useResource('GET /user/factors', {});
  const linked = useResource('GET /user/linked_accounts');
  const hasFactors = factors.data && (factors.data.totp !== undefined || factors.data.passkeys.length > 0);
  // For users with a second factor, the password proves nothing.
  const hasPasswords = pageData.features.passwords && hasFactors === false;
  const providers = hasFactors === false ? (linked.data ?? []) : [];
  const password = useSignal('');
  const code = useSignal('');
  const isRunning = useSignal(false);
  const problem = useSignal<{ field: 'password' | 'code' | 'passkey'; text: string } | undefined>(undefined);
  const blocked = useSignal<string | undefined>(undefined);
  const hasNothing = !hasPasswords && hasFactors === false && linked.data?.length === 0;
  const errorOf = (field: string) => (problem.value?.field === field ? problem.value.text : undefined);

  async function prove(field: 'password' | 'code' | 'passkey'): Promise<void> {
    isRunning.value = true;
    problem.value = undefined;
    try {
      const body = await proofOf(field);
      if (body === undefined) return;
      await api.call('POST /user/reauthenticate', { body });
      proven(true);
    } catch (error) {
      problem.value = { field, text: messageOf(error) };
    } finally {
      isRunning.value = false;
    }
  }

  /** In a window of its own, so that the page below keeps what was typed. */
  function proveWith(provider: string): void {
    const isOpen = openSignInWindow(provider, { again: 'true' }, () => {
      // The session is another one now. Its first answer brings what a change needs.
      api.call('GET /user').then(
        (user) => {
          signedInAs(user);
          proven(true);
        },
        () => proven(false),
      );
    });
    blocked.value = isOpen ? undefined : provider;
  }

  async function proofOf(field: 'password' | 'code' | 'passkey') {
    if (field === 'password') return { password: password.value };
    if (field === 'code') return { code: code.value };
    const passkey = await showPasskey(await api.call('POST /user/reauthenticate/options'));
    return passkey && { passkey };
  }

  return (
    <Dialog title="Is it still you?" onClose={() => proven(false)}>
      <p>You signed in a while ago. Prove that it is you, and what you wanted to do goes on.</p>
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault();
          void prove(hasPasswords ? 'password' : 'code');
        }}
      >
        <input type="text" name="username" autoComplete="username" value={me.value?.login} hidden readOnly />
        {hasPasswords && (
          <TextField
            label="Your password"
            type="password"
            value={password}
            autoComplete="current-password"
            autoFocus
            error={errorOf('password')}
          />
        )}
        {factors.data?.totp && (
          <TextField
            label="The code of your authenticator app"
            value={code}
            autoComplete="one-time-code"
            autoFocus
            error={errorOf('code')}
          />
        )}
        {errorOf('passkey') !== undefined && (
          <p class="problem" role="alert">
            {errorOf('passkey')}
          </p>
        )}
        <div class="line end">
          {hasPasskeys() && (factors.data?.passkeys.length ?? 0) > 0 && (
            <Button onClick={() => void prove('passkey')}>Use a passkey</Button>
          )}
          {(hasPasswords || factors.data?.totp) && (
            <Button kind="main" type="submit" isBusy={isRunning.value} busyLabel="Checking">
              Continue
            </Button>
          )}
        </div>
        {hasFactors && <p>If you have none of them with you, sign out and sign in again.</p>}
        {providers.map(({ id, provider, provider_display_name: name }) => (
          <p key={id}>
            <button type="button" class="link-button" onClick={() => proveWith(provider)}>
              {`${hasPasswords ? 'Or sign' : 'Sign'} in again with ${name}`}
            </button>
            <span class="quiet">, in a window of its own</span>
          </p>
        ))}
        {blocked.value !== undefined && (
          <p class="problem" role="alert">
            The browser has blocked the window. Allow windows for this site, or{' '}
            <a target="_top" href={`/api/v1/user/signin/${blocked.value}?${againHere()}`}>
              sign in again in this one
            </a>
            , which loses what you have typed.
          </p>
        )}
        {hasNothing && (
          <p class="problem" role="alert">
            {
              'You cannot prove it here: passwords are off, and you have neither a second factor nor a linked account. Sign out and sign in with your provider; if it is not linked to this account yet, ask a site administrator.'
            }
          </p>
        )}
      </form>
    </Dialog>
  );
}

function againHere(): URLSearchParams {
  return new URLSearchParams({ return_to: location.pathname + location.search, again: 'true' });
}
