import { useEffect } from 'preact/hooks';
import { useLocation } from 'preact-iso';

/** Whoever is signed in has no business at the door. */
export function SignedInPage() {
  const { route } = useLocation();
  useEffect(() => route(wanted(), true), []);
  return null;
}

/** The page that was asked for before a provider was, if it is one of ours. */
function wanted(): string {
  const path = new URLSearchParams(location.search).get('return_to') ?? '/';
  const url = new URL(path, location.origin);
  return url.origin === location.origin ? url.pathname + url.search : '/';
}
