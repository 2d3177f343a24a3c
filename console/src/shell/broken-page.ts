import { signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';

/** True while a page is on the screen whose file could not be loaded. */
export const isPageBroken = signal(false);

/** Stands in for such a page; the shell says what happened. */
export function BrokenPage() {
  useEffect(() => {
    isPageBroken.value = true;
    return () => {
      isPageBroken.value = false;
    };
  }, []);
  return null;
}
