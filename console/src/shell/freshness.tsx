import { useEffect } from 'preact/hooks';
import { freshness } from '../data/events.ts';
import { isAnyFailing, retryFailing } from '../data/resource.ts';
import { isSignInNeeded } from '../data/session.ts';
import { isPageBroken, retryBrokenPage } from './broken-page.ts';

/** Whether what is on the screen is what the server knows. */
export function Freshness() {
  const fresh = freshness.value;
  useEffect(() => {
    if (fresh.state !== 'live') return;
    retryBrokenPage();
    retryFailing();
  }, [fresh.state]);
  if (fresh.state === 'starting') return <p class="small quiet">&nbsp;</p>;
  if (isPageBroken.value || (fresh.state === 'live' && isAnyFailing.value))
    return <p class="small warn">Not loaded, trying again…</p>;
  if (fresh.state === 'live') {
    return (
      <p class="small quiet" title={`Revision ${fresh.revision}`}>
        Exact as of now
      </p>
    );
  }
  if (isSignInNeeded.value) return <p class="small warn">Your session has ended</p>;
  const time = fresh.since.toLocaleTimeString([], { hour: '2-digit', minute: '2-digit', second: '2-digit' });
  return <p class="small warn">Not live since {time}, reconnecting…</p>;
}
