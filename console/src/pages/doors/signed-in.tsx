import { useEffect } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import { returnPath } from '../../data/return-path.ts';

/** A signed-in user has no business at the door. They get the page that was asked for before the provider was. */
export function SignedInPage() {
  const { route } = useLocation();
  useEffect(() => route(returnPath(location.search), true), []);
  return null;
}
