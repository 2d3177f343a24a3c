import { signal } from '@preact/signals';
import { isRead } from './reads.ts';

/** A site administrator sees what another person sees, until they stop, sign out or close the tab. */
export interface View {
  readonly name: string;
  /** The administrator, under whose name changes are recorded. */
  readonly by: string;
  /** Until it is unlocked, nothing can be changed. */
  readonly isLocked: boolean;
}

const KEY = 'atrium.view-as';

/** Calls about the session itself, which is the administrator's own. */
const OWN = /^\/api\/v1\/user\/sign(in|out)$/;

export const viewing = signal<View | undefined>(stored());

export function startViewing(view: Omit<View, 'isLocked'>): void {
  keep({ ...view, isLocked: true });
  // Everything on the screen and in memory belongs to another user.
  location.assign('/');
}

export function unlockView(): void {
  if (viewing.value) keep({ ...viewing.value, isLocked: false });
}

export function stopViewing(): void {
  const view = viewing.value;
  clearView();
  location.assign(view === undefined ? '/' : `/admin/users/${encodeURIComponent(view.name)}`);
}

/** Without leaving the page. */
export function clearView(): void {
  keep(undefined);
}

export function viewHeaders(path: string): Readonly<Record<string, string>> {
  return viewing.value === undefined || OWN.test(path) ? {} : { Sudo: viewing.value.name };
}

/** The answer to a change while the view is locked. The request does not reach the server. */
export function lockedAnswer(method: string, address: URL): Response | undefined {
  const view = viewing.value;
  if (!view?.isLocked || OWN.test(address.pathname) || isRead(method, address)) return undefined;
  const message = `You are viewing as ${view.name}, and can only read. Unlock changes first.`;
  return Response.json({ message, reason: 'forbidden' }, { status: 403 });
}

function keep(view: View | undefined): void {
  viewing.value = view;
  if (view) sessionStorage.setItem(KEY, JSON.stringify(view));
  else sessionStorage.removeItem(KEY);
}

function stored(): View | undefined {
  try {
    const view = JSON.parse(sessionStorage.getItem(KEY) ?? 'null') as Partial<View> | null;
    if (typeof view?.name !== 'string' || view.name === '') return undefined;
    return { name: view.name, by: String(view.by ?? ''), isLocked: view.isLocked !== false };
  } catch {
    return undefined;
  }
}
