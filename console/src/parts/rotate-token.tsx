import { useSignal } from '@preact/signals';
import { ApiError } from '../../../client/errors.ts';
import { useAction } from '../data/action.ts';
import { SelectField, TextField } from './field.tsx';
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
  /** Whether the password must be proven, as for a new token. */
  readonly needsPassword: boolean;
  readonly rotate: (hours: number, password: string) => Promise<{ readonly sha1: string }>;
  readonly onClose: () => void;
  readonly onCreated: (text: string) => void;
}

export function RotateToken({ name, needsPassword, rotate, onClose, onCreated }: RotateTokenProps) {
  const hours = useSignal('24');
  const password = useSignal('');
  const action = useAction(async () => {
    const token = await rotate(Number(hours.value), password.value);
    password.value = '';
    onCreated(token.sha1);
  });
  const isWrong = needsPassword && action.error instanceof ApiError && action.error.status === 401;
  return (
    <FormDialog
      title={`Rotate the token ${name}`}
      verb="Rotate token"
      action={isWrong ? { ...action, error: undefined } : action}
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
      {needsPassword && (
        <TextField
          label="Your password"
          type="password"
          value={password}
          isRequired
          autoComplete="current-password"
          hint="To confirm that it is you."
          error={isWrong ? 'The password is wrong.' : undefined}
        />
      )}
    </FormDialog>
  );
}

/** Base64 of UTF-8, because a password may contain any character. */
export function basicOf(username: string, password: string): string {
  const bytes = new TextEncoder().encode(`${username}:${password}`);
  return `Basic ${btoa(String.fromCharCode(...bytes))}`;
}
