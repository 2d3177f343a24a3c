import { signal } from '@preact/signals';
import { me } from '../../data/session.ts';

const KEY = 'atrium.asked-why';
const asked = signal<string | undefined>(undefined);

/** Whether this user has been told why in this browser. It concerns only this browser, so the server does not know. */
export function hasAskedWhy(): boolean {
  return (asked.value ?? read()) === String(me.value?.id);
}

export function noteAskedWhy(): void {
  const user = String(me.value?.id);
  asked.value = user;
  try {
    localStorage.setItem(KEY, user);
  } catch {
    // Without storage, it is known until the page is loaded anew.
  }
}

function read(): string | null {
  try {
    return localStorage.getItem(KEY);
  } catch {
    return null;
  }
}
