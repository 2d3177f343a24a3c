import { signal } from '@preact/signals';

export type Theme = 'system' | 'light' | 'dark';

const KEY = 'atrium.theme';

export const theme = signal<Theme>(read());

export function setTheme(chosen: Theme): void {
  theme.value = chosen;
  remember(KEY, chosen === 'system' ? undefined : chosen);
  apply();
}

/** Runs before the first paint, so that nothing flashes. */
export function apply(): void {
  const root = document.documentElement;
  if (theme.value === 'system') delete root.dataset.theme;
  else root.dataset.theme = theme.value;
}

function read(): Theme {
  const kept = recall(KEY);
  return kept === 'light' || kept === 'dark' ? kept : 'system';
}

/** Browsers may forbid storage. Then nothing is remembered, and everything else works. */
export function remember(key: string, value: string | undefined): void {
  try {
    if (value === undefined) localStorage.removeItem(key);
    else localStorage.setItem(key, value);
  } catch {
    // Only a convenience is lost.
  }
}

export function recall(key: string): string | undefined {
  try {
    return localStorage.getItem(key) ?? undefined;
  } catch {
    return undefined;
  }
}
