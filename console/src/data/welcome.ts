/**
 * The address of a first start carries a token behind the #. It is taken before anything else happens, and wiped from
 * the address, so that it is neither in the history nor on the screen.
 */
const PREFIX = '#token=';
const PATH = '/welcome';

let token = take();

// The link was opened again in the same tab: only what follows the # changed, so the page was not loaded again.
addEventListener('hashchange', () => {
  if (location.pathname === PATH && location.hash.startsWith(PREFIX)) location.reload();
});

/** Hands the token out once; nothing keeps it after that. */
export function takeWelcomeToken(): string | undefined {
  const taken = token;
  token = undefined;
  return taken;
}

function take(): string | undefined {
  const { pathname, hash } = location;
  if (pathname !== PATH || !hash.startsWith(PREFIX)) return undefined;
  history.replaceState(history.state, '', PATH);
  try {
    return decodeURIComponent(hash.slice(PREFIX.length)) || undefined;
  } catch {
    return undefined;
  }
}
