import { type Signal, useSignal } from '@preact/signals';
import { useRef } from 'preact/hooks';
import { useResource } from '../data/resource.ts';
import { Picker } from './picker.tsx';

interface UserPickerProps {
  readonly label: string;
  /** The login name of the chosen user, or what was typed. */
  readonly value: Signal<string>;
  readonly hint?: string | undefined;
  readonly error?: string | undefined;
}

const MAX_FOUND = 8;

/** Finds a user by any part of the name, on the server. */
export function UserPicker({ label, value, hint, error }: UserPickerProps) {
  const text = useSignal(value.value);
  const picked = useSignal('');
  // Whoever is chosen already need not be found.
  const given = useRef(value.value).current;
  const isAsked = given === '' || text.value !== given;
  const found = useResource(
    isAsked ? 'GET /users/search' : undefined,
    isAsked ? { query: { q: text.value.trim(), limit: MAX_FOUND } } : undefined,
  );
  return (
    <Picker
      label={label}
      hint={hint}
      error={error}
      value={picked}
      text={
        {
          get value() {
            return text.value;
          },
          set value(typed: string) {
            text.value = typed;
            value.value = typed.trim();
          },
        } as Signal<string>
      }
      choices={(found.data?.data ?? []).map(({ login, full_name }) => ({
        value: login,
        label: login,
        detail: full_name,
      }))}
    />
  );
}
