/**
 * The page of the console that an address asks to go back to. Anything that a browser would read as another site, or not
 * at all, leads home.
 */
export function returnPath(search: string): string {
  const wanted = new URLSearchParams(search).get('return_to') ?? '/';
  const here = 'http://console.invalid';
  const url = URL.canParse(wanted, here) ? new URL(wanted, here) : undefined;
  if (url?.origin !== here) return '/';
  const path = `${url.pathname}${url.search}${url.hash}`;
  // The parser makes two slashes of "/.//example.com", which the next one takes for a host.
  return path.startsWith('//') ? '/' : path;
}
