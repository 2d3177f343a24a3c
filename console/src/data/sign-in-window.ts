/** Where a window that was opened to sign in ends up. It tells the page that opened it, and closes. */
const DONE_PATH = '/signin/done';
const CHANNEL = 'atrium sign-in';

/**
 * Signs in with a provider in a window of its own, so that the page below keeps what was typed. False if the browser has
 * blocked the window.
 */
export function openSignInWindow(
  provider: string,
  query: Readonly<Record<string, string>>,
  onDone: () => void,
): boolean {
  const parameters = new URLSearchParams({ ...query, return_to: DONE_PATH });
  const url = `/api/v1/user/signin/${encodeURIComponent(provider)}?${parameters}`;
  if (window.open(url, 'atrium-sign-in', 'popup,width=520,height=720') === null) return false;
  const channel = new BroadcastChannel(CHANNEL);
  channel.onmessage = () => {
    channel.close();
    onDone();
  };
  return true;
}

export function tellSignedIn(): void {
  const channel = new BroadcastChannel(CHANNEL);
  channel.postMessage('done');
  channel.close();
}
