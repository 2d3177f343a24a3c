import { useSignal } from '@preact/signals';
import { api } from '../../data/api.ts';
import { forgetProvider } from '../../data/last-provider.ts';
import { hasPasskeys } from '../../data/passkey.ts';
import { signedOut } from '../../data/session.ts';
import { Button } from '../../parts/button.tsx';
import { AddApp } from '../factors/add-app.tsx';
import { AddPasskey } from '../factors/add-passkey.tsx';
import { RecoveryCodes } from '../factors/recovery-codes.tsx';
import { Door } from './sign-in.tsx';

/** For users who must have a second factor and have none: there is nothing else that they can do. */
export function EnrollPage() {
  const open = useSignal<'passkey' | 'app' | undefined>(undefined);
  const codes = useSignal<readonly string[] | undefined>(undefined);
  const close = () => (open.value = undefined);
  // Every request was rejected until now, so the page starts anew.
  const enter = () => location.reload();
  const dialog = { onClose: close, onCodes: (given: readonly string[]) => (codes.value = given) };
  return (
    <Door title="Add a second factor" lead="One more step before you can go on.">
      <p>
        This deployment, or one of your organizations, requires more than a password. Add one of these. You need it each
        time you sign in.
      </p>
      <div class="stack">
        {hasPasskeys() && (
          <Button kind="main" onClick={() => (open.value = 'passkey')}>
            Add a passkey
          </Button>
        )}
        <Button kind={hasPasskeys() ? 'plain' : 'main'} onClick={() => (open.value = 'app')}>
          Add an authenticator app
        </Button>
        <Button
          onClick={() => {
            forgetProvider();
            void api.call('GET /user/signout').finally(signedOut);
          }}
        >
          Sign out
        </Button>
      </div>
      {open.value === 'passkey' && <AddPasskey {...dialog} onDone={() => codes.value ?? enter()} />}
      {open.value === 'app' && <AddApp {...dialog} onDone={() => codes.value ?? enter()} />}
      {codes.value && <RecoveryCodes codes={codes.value} onClose={enter} />}
    </Door>
  );
}
