/** Every page, from the root of the repository. */
export const PAGES: readonly string[];
/** The address of a page on the site. */
export function addressOf(page: string): string;
