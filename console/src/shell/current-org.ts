import { useLocation } from 'preact-iso';
import { recall, remember } from './theme.ts';

const KEY = 'atrium.org';

/** The organization of the address, else the one that was open last. */
export function useCurrentOrg(): string | undefined {
  const { path } = useLocation();
  const named = /^\/orgs\/([^/]+)/.exec(path)?.[1];
  if (named === undefined || named === 'new') return recall(KEY);
  const org = decodeURIComponent(named);
  remember(KEY, org);
  return org;
}
