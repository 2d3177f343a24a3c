import { signal, useSignal } from '@preact/signals';
import { useMemo } from 'preact/hooks';
import { ApiError } from '../../../client/errors.ts';
import { refresh } from './resource.ts';

export interface Action<Args extends readonly unknown[]> {
  /** Resolves to whether it succeeded. Never rejects: the error is in `error`. */
  readonly run: (...args: Args) => Promise<boolean>;
  readonly isRunning: boolean;
  readonly error: unknown;
  /** The message for one field of the form, if the server rejected it. */
  readonly fieldError: (field: string) => string | undefined;
  readonly clear: () => void;
}

/** A change. After it has succeeded, everything on the screen is asked for again. */
export function useAction<Args extends readonly unknown[]>(change: (...args: Args) => Promise<unknown>): Action<Args> {
  const isRunning = useSignal(false);
  const error = useSignal<unknown>(undefined);
  const latest = useMemo(() => signal(change), []);
  latest.value = change;
  return {
    isRunning: isRunning.value,
    error: error.value,
    clear: () => {
      error.value = undefined;
    },
    fieldError: (field) =>
      error.value instanceof ApiError ? error.value.errors.find((one) => one.field === field)?.message : undefined,
    run: async (...args) => {
      if (isRunning.peek()) return false;
      isRunning.value = true;
      error.value = undefined;
      try {
        await latest.peek()(...args);
        refresh();
        return true;
      } catch (fault) {
        error.value = fault;
        return false;
      } finally {
        isRunning.value = false;
      }
    },
  };
}
