import { useSignal } from '@preact/signals';
import { useAction } from '../../data/action.ts';
import { api } from '../../data/api.ts';
import { Button, LinkButton } from '../../parts/button.tsx';
import { messageOf } from '../../parts/fault.tsx';
import { TextField } from '../../parts/field.tsx';
import { codeOfLink, forgetCode } from './link-code.ts';
import { Door } from './sign-in.tsx';

export function ResetPasswordPage() {
  const code = useSignal(codeOfLink());
  const password = useSignal('');
  const isDone = useSignal(false);
  const save = useAction(async () => {
    await api.call('POST /user/password/reset', { body: { code: code.value ?? '', password: password.value } });
    forgetCode();
    password.value = '';
    isDone.value = true;
  });
  return (
    <Door title="Set a new password" lead="It ends all sessions. Second factors stay.">
      {code.value === undefined && (
        <p>
          This address is not complete: open the link of the email, or <a href="/signin/forgot">ask for another one</a>.
        </p>
      )}
      {isDone.value && (
        <>
          <p role="status">The password was changed. Sign in with the new one.</p>
          <LinkButton href="/signin">Sign in</LinkButton>
        </>
      )}
      {code.value !== undefined && !isDone.value && (
        <form
          class="stack"
          onSubmit={(event) => {
            event.preventDefault();
            void save.run();
          }}
        >
          <TextField
            label="New password"
            type="password"
            value={password}
            autoComplete="new-password"
            isRequired
            autoFocus
            hint="8 to 255 characters."
            error={save.error === undefined ? undefined : messageOf(save.error)}
          />
          <Button kind="main" type="submit" isBusy={save.isRunning}>
            Set password
          </Button>
          <p>
            <a href="/signin/forgot">Ask for another link</a>
          </p>
        </form>
      )}
    </Door>
  );
}
