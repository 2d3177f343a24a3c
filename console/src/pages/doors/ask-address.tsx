import { useSignal } from '@preact/signals';
import { useAction } from '../../data/action.ts';
import { Button } from '../../parts/button.tsx';
import { messageOf } from '../../parts/fault.tsx';
import { TextField } from '../../parts/field.tsx';

interface AskAddressProps {
  readonly verb: string;
  /** What is shown afterwards. The server does not say whether an account has the address. */
  readonly sent: string;
  readonly send: (email: string) => Promise<void>;
}

/** Asks for the address that an email is sent to. */
export function AskAddress({ verb, sent, send }: AskAddressProps) {
  const email = useSignal('');
  const isSent = useSignal(false);
  const ask = useAction(async () => {
    await send(email.value);
    isSent.value = true;
  });
  if (isSent.value) return <p role="status">{sent}</p>;
  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault();
        void ask.run();
      }}
    >
      <TextField
        label="Email address"
        type="email"
        value={email}
        autoComplete="email"
        isRequired
        autoFocus
        error={ask.error === undefined ? undefined : messageOf(ask.error)}
      />
      <Button kind="main" type="submit" isBusy={ask.isRunning}>
        {verb}
      </Button>
    </form>
  );
}
