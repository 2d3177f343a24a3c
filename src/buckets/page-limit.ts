import type { Agents } from '../base/outbound.ts';
import { CloudRefusal } from './buckets.ts';

/** What every client of a storage service is called with. */
export interface Asking {
  readonly agents: Agents;
  readonly most: number;
  readonly signal: AbortSignal;
}

/** Ten times as many as a service needs that fills its pages. */
const MAX_PAGES = 100;

/** Call the result before each page: a service may send pages without names and without end. */
export function limitPages(): () => void {
  let pages = 0;
  return () => {
    if (++pages > MAX_PAGES) throw new CloudRefusal(`the service sent ${MAX_PAGES} pages and still has more`);
  };
}
