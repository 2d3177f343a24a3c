import { useEffect } from 'preact/hooks';
import { useLocation } from 'preact-iso';

/** Whoever is signed in has no business at the door. */
export function SignedInPage() {
  const { route } = useLocation();
  useEffect(() => route('/', true), []);
  return null;
}
