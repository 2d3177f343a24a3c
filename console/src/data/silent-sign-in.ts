import { LAST_PROVIDER } from './last-provider.ts';

const TRIED = 'atrium.silent';
/** A provider that says no, and one that says yes to no avail, are not asked in a circle. */
const PAUSE_MS = 60_000;

/**
 * Sessions of a provider end when its word no longer counts. If it still knows the browser, it signs in again without a
 * question. False if there is nothing to try; otherwise the browser leaves this page.
 */
export function signInSilently(): boolean {
  const last = lastProvider();
  const tried = Number(sessionStorage.getItem(TRIED) ?? 0);
  if (last === undefined || Date.now() - tried < PAUSE_MS || location.pathname.startsWith('/signin')) return false;
  sessionStorage.setItem(TRIED, String(Date.now()));
  const { pathname, search } = location;
  const query = { silent: 'true', remember: String(last.remember), return_to: `${pathname}${search}` };
  location.assign(`/api/v1/user/signin/${encodeURIComponent(last.name)}?${new URLSearchParams(query)}`);
  return true;
}

/** Whether leaving the page would lose something. */
export function hasDraft(): boolean {
  const fields = document.querySelectorAll<HTMLInputElement | HTMLTextAreaElement>('input, textarea');
  const ignored = new Set(['hidden', 'search', 'checkbox', 'radio', 'submit', 'button']);
  return [...fields].some(
    (field) => !field.hidden && !field.readOnly && !ignored.has(field.type) && field.value !== '',
  );
}

function lastProvider(): { readonly name: string; readonly remember: boolean } | undefined {
  try {
    const read: unknown = JSON.parse(localStorage.getItem(LAST_PROVIDER) ?? 'null');
    const { name, remember } = (read ?? {}) as { name?: unknown; remember?: unknown };
    return typeof name === 'string' ? { name, remember: remember === true } : undefined;
  } catch {
    return undefined;
  }
}
