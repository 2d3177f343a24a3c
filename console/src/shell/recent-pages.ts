const KEY = 'atrium.recent';
const MAX = 6;

export interface RecentPage {
  readonly href: string;
  readonly title: string;
}

/** The pages that were open last in this tab, the newest first. */
export function recentPages(): readonly RecentPage[] {
  try {
    const read: unknown = JSON.parse(sessionStorage.getItem(KEY) ?? '[]');
    return Array.isArray(read)
      ? read.filter((one) => typeof one?.href === 'string' && typeof one?.title === 'string')
      : [];
  } catch {
    return [];
  }
}

/** Remembers the page that is left, by the title of its window. */
export function notePage(href: string, title: string): void {
  const others = recentPages().filter((one) => one.href !== href);
  try {
    sessionStorage.setItem(KEY, JSON.stringify([{ href, title }, ...others].slice(0, MAX)));
  } catch {
    // Without storage there are no recent pages.
  }
}
