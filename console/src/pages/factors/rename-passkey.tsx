import { useSignal } from '@preact/signals';
import { useAction } from '../../data/action.ts';
import { api } from '../../data/api.ts';
import { TextField } from '../../parts/field.tsx';
import { FormDialog } from '../../parts/form.tsx';

interface RenamePasskeyProps {
  readonly passkey: { readonly id: bigint; readonly name: string };
  readonly onClose: () => void;
}

export function RenamePasskey({ passkey, onClose }: RenamePasskeyProps) {
  const name = useSignal(passkey.name);
  const rename = useAction(() =>
    api.call('PATCH /user/factors/passkeys/{id}', { path: { id: passkey.id }, body: { name: name.value } }),
  );
  return (
    <FormDialog title={`Rename ${passkey.name}`} verb="Rename" action={rename} fields={['name']} onClose={onClose}>
      <TextField
        label="Name"
        value={name}
        isRequired
        autoFocus
        autoComplete="off"
        maxLength={60}
        error={rename.fieldError('name')}
      />
    </FormDialog>
  );
}
