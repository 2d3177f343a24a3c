import { type Signal, useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { useResource } from '../data/resource.ts';
import { Picker } from './picker.tsx';

interface UserPickerProps {
  readonly label: string;
  /** The login name of the chosen user, or what was typed. */
  readonly value: Signal<string>;
  readonly hint?: string | undefined;
  readonly error?: string | undefined;
  /** Also finds robots of this organization, as `robot:deploy`. */
  readonly robotsOf?: string | undefined;
  /** Becomes true if there is a user with exactly this name. */
  readonly isKnown?: Signal<boolean> | undefined;
}

const MAX_FOUND = 8;
const ROBOT = 'robot:';

/** Finds a user by any part of the name, on the server. */
export function UserPicker({ label, value, hint, error, robotsOf, isKnown }: UserPickerProps) {
  const text = useSignal(value.value);
  const picked = useSignal('');
  // A user who is chosen already need not be found.
  const given = useRef(value.value).current;
  const isAsked = given === '' || text.value !== given;
  const found = useResource(
    isAsked ? 'GET /users/search' : undefined,
    isAsked ? { query: { q: text.value.trim(), limit: MAX_FOUND } } : undefined,
  );
  const asked = text.value.trim().replace(ROBOT, '');
  const hasRobots = robotsOf !== undefined && isAsked && asked !== '';
  const robots = useResource(hasRobots ? 'GET /search' : undefined, {
    query: { q: asked, org: robotsOf, types: 'robots' },
  });
  const choices = [
    ...(found.data?.data ?? []).map(({ login, full_name }) => ({ value: login, label: login, detail: full_name })),
    ...(robots.data?.robots ?? []).map(({ name }) => ({ value: ROBOT + name, label: ROBOT + name, detail: 'robot' })),
  ];
  const wanted = text.value.trim();
  const isFound = choices.some((choice) => choice.value === wanted);
  useEffect(() => {
    if (isKnown) isKnown.value = isFound;
  }, [isFound]);
  const isNobody = isKnown !== undefined && wanted !== '' && found.data !== undefined && choices.length === 0;
  return (
    <Picker
      label={label}
      hint={hint}
      error={error ?? (isNobody ? 'No user has this name.' : undefined)}
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
      choices={choices.slice(0, MAX_FOUND)}
    />
  );
}
