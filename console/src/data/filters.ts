import { useEffect, useRef, useState } from 'preact/hooks';

const SETTLE_MS = 200;

/** What was typed, once nothing more is typed for a moment. An emptied field counts immediately. */
export function useSettled(text: string): string {
  const [settled, setSettled] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(text), text === '' ? 0 : SETTLE_MS);
    return () => clearTimeout(timer);
  }, [text]);
  return settled;
}

interface Loaded {
  readonly data: unknown;
  readonly error: unknown;
  readonly isStale: boolean;
}

/** The previous rows stay until those of a changed filter have arrived. `about` is what they must not outlive. */
export function useKept<One extends Loaded>(loaded: One, about: string): One {
  const kept = useRef<{ loaded: One; about: string } | undefined>(undefined);
  if (loaded.data !== undefined || loaded.error !== undefined) kept.current = { loaded, about };
  const before = kept.current?.about === about ? kept.current.loaded : undefined;
  return loaded.data === undefined && before?.data !== undefined ? { ...before, isStale: true } : loaded;
}

/** Absent rather than empty, so that the server does not filter by it. */
export function unlessEmpty(text: string): string | undefined {
  return text.trim() === '' ? undefined : text.trim();
}
