import { useSignal } from '@preact/signals';
import { useAction } from '../../data/action.ts';
import { api } from '../../data/api.ts';
import { Button, LinkButton } from '../../parts/button.tsx';
import { Fault } from '../../parts/fault.tsx';
import { TextField } from '../../parts/field.tsx';
import { AskAddress } from './ask-address.tsx';
import { codeOfLink, forgetCode } from './link-code.ts';
import { Door } from './sign-in.tsx';

/** Without a code, it asks for the address. The link of the email leads here again, with a code. */
export function SignUpPage() {
  const code = useSignal(codeOfLink());
  return (
    <Door title="Create an account" lead="With an address that your administrators allow.">
      {code.value === undefined ? (
        <AskAddress
          verb="Send the link"
          sent="An email is on its way to you. Its link works for a day. At most one email is sent in ten minutes."
          send={async (email) => {
            await api.call('POST /user/signup', { body: { email } });
          }}
        />
      ) : (
        <NewAccount code={code.value} />
      )}
      <p>
        <a href="/signin">Back to sign-in</a>
      </p>
    </Door>
  );
}

function NewAccount({ code }: { code: string }) {
  const username = useSignal('');
  const fullName = useSignal('');
  const password = useSignal('');
  const created = useSignal<string | undefined>(undefined);
  const create = useAction(async () => {
    const body = { code, username: username.value, full_name: fullName.value, password: password.value };
    const { login } = await api.call('POST /user/signup/confirm', { body });
    forgetCode();
    password.value = '';
    created.value = login;
  });
  if (created.value !== undefined) {
    return (
      <>
        <p role="status">
          The account <bdi>{created.value}</bdi> was created.
        </p>
        <LinkButton href="/signin">Sign in</LinkButton>
      </>
    );
  }
  const faults = [create.fieldError('username'), create.fieldError('full_name'), create.fieldError('password')];
  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault();
        void create.run();
      }}
    >
      <TextField
        label="Username"
        value={username}
        autoComplete="username"
        isRequired
        autoFocus
        error={create.fieldError('username')}
      />
      <TextField label="Full name" value={fullName} autoComplete="name" error={create.fieldError('full_name')} />
      <TextField
        label="Password"
        type="password"
        value={password}
        autoComplete="new-password"
        isRequired
        hint="8 to 255 characters."
        error={create.fieldError('password')}
      />
      {faults.every((fault) => fault === undefined) && <Fault error={create.error} />}
      <Button kind="main" type="submit" isBusy={create.isRunning}>
        Create account
      </Button>
    </form>
  );
}
