import { useSignal } from '@preact/signals';
import { useAction } from '../data/action.ts';
import { SelectField } from './field.tsx';
import { FormDialog } from './form.tsx';

/** How long the old token goes on working, in hours. */
const OVERLAPS = [
  { value: '0', label: 'no longer: it may have leaked' },
  { value: '1', label: 'for an hour' },
  { value: '24', label: 'for a day' },
  { value: '168', label: 'for a week' },
] as const;

interface RotateTokenProps {
  readonly name: string;
  readonly rotate: (hours: number) => Promise<{ readonly sha1: string }>;
  readonly onClose: () => void;
  readonly onCreated: (text: string) => void;
}

export function RotateToken({ name, rotate, onClose, onCreated }: RotateTokenProps) {
  const hours = useSignal('24');
  const action = useAction(async () => onCreated((await rotate(Number(hours.value))).sha1));
  return (
    <FormDialog
      title={`Rotate the token ${name}`}
      verb="Rotate token"
      action={action}
      fields={['overlap_hours', 'expires_at']}
      onClose={onClose}
    >
      <p>A new token with the same name, scopes and limits replaces it. The text of the new one is shown once.</p>
      <SelectField
        label="The old token goes on working"
        value={hours}
        choices={OVERLAPS}
        error={action.fieldError('overlap_hours')}
      />
    </FormDialog>
  );
}
