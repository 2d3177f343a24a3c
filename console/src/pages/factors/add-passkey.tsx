import { useSignal } from '@preact/signals';
import { useAction } from '../../data/action.ts';
import { api } from '../../data/api.ts';
import { createPasskey } from '../../data/passkey.ts';
import { browserIn } from '../../parts/browser-name.ts';
import { TextField } from '../../parts/field.tsx';
import { FormDialog } from '../../parts/form.tsx';

interface AddPasskeyProps {
  readonly onClose: () => void;
  /** The first second factor comes with recovery codes. */
  readonly onCodes: (codes: readonly string[]) => void;
  readonly onDone?: (() => void) | undefined;
}

export function AddPasskey({ onClose, onCodes, onDone }: AddPasskeyProps) {
  const name = useSignal(browserIn(navigator.userAgent));
  const add = useAction(async () => {
    const response = await createPasskey(await api.call('POST /user/factors/passkeys/options'));
    if (response === undefined) throw new Error('No passkey was created. Try again, or close this.');
    const added = await api.call('POST /user/factors/passkeys', { body: { name: name.value, response } });
    if (added.recovery_codes) onCodes(added.recovery_codes);
  });
  return (
    <FormDialog
      title="Add a passkey"
      verb="Create passkey"
      action={add}
      fields={['name']}
      onClose={onClose}
      onDone={onDone}
    >
      <p>Your browser asks you where to keep it, and to unlock it.</p>
      <TextField
        label="Name"
        value={name}
        isRequired
        autoFocus
        autoComplete="off"
        maxLength={60}
        hint="So that you recognize it here."
        error={add.fieldError('name')}
      />
    </FormDialog>
  );
}
