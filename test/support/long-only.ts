import { it } from 'node:test';
import { IS_LONG } from '../counts.ts';

/** A test that is worth its processor time in the long suite only. */
export function itIfLong(name: string, body: () => Promise<void>): void {
  if (IS_LONG) it(name, body);
}
