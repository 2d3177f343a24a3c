import { computed, signal } from '@preact/signals';
import type { Answer } from '../../../client/client.ts';
import { pageData } from './page-data.ts';
import { forgetPages } from './recent-pages.ts';
import { clearView } from './view-as.ts';

export type Me = Answer<'GET /user'>;

/** Undefined until the server has said who it is, and after signing out. */
export const me = signal<Me | undefined>(undefined);
/** True while the sign-in dialog covers the page because the session has ended. */
export const isSignInNeeded = signal(false);
export const isSignedOut = signal(!pageData.signedIn);
export const isSiteAdmin = computed(() => me.value?.is_admin ?? false);

let waiting: { resolve: () => void; reject: (reason: unknown) => void }[] = [];

/** Resolves when the user has signed in again, so that the rejected request can go on. */
export function waitForSignIn(signal?: AbortSignal): Promise<void> {
  isSignInNeeded.value = true;
  return new Promise((resolve, reject) => {
    const one = { resolve, reject };
    waiting.push(one);
    signal?.addEventListener('abort', () => {
      waiting = waiting.filter((other) => other !== one);
      reject(signal.reason);
    });
  });
}

export function signedInAs(user: Me): void {
  // What is on the screen, and typed into it, belongs to another user.
  if (me.value !== undefined && me.value.id !== user.id) {
    location.assign('/');
    return;
  }
  me.value = user;
  isSignedOut.value = false;
  isSignInNeeded.value = false;
  const ready = waiting;
  waiting = [];
  for (const { resolve } of ready) resolve();
}

/** Before there is a page to keep, a missing session leads to the sign-in page. */
export function signedOut(): void {
  clearView();
  forgetPages();
  me.value = undefined;
  isSignedOut.value = true;
}
