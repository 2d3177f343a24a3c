const KEY = 'atrium.recent';
const MAX = 6;

export interface RecentPage {
  readonly href: string;
  readonly title: string;
}

/** The pages that this user had open last in this tab, the newest first. */
export function recentPages(user: bigint | undefined): readonly RecentPage[] {
  try {
    const { of, pages } = JSON.parse(sessionStorage.getItem(KEY) ?? '{}');
    return of === String(user) ? pages : [];
  } catch {
    return [];
  }
}

/** Remembers the page that the user leaves, by the title of its window. Other users of the browser must not read the titles. */
export function notePage(user: bigint | undefined, page: RecentPage): void {
  if (user === undefined) return;
  const pages = [page, ...recentPages(user).filter(({ href }) => href !== page.href)].slice(0, MAX);
  try {
    sessionStorage.setItem(KEY, JSON.stringify({ of: String(user), pages }));
  } catch {
    // Without storage there are no recent pages.
  }
}

export function forgetPages(): void {
  sessionStorage.removeItem(KEY);
}
