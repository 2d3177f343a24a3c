import { describe, it } from 'node:test';
import { IS_LONG } from '../../counts.ts';

/** A test that only `npm run test:long` runs, because a cheaper one makes the same promise every day. */
export const itLong = IS_LONG ? it : it.skip;
/** The same for a suite. Its hooks do not run either. */
export const describeLong = IS_LONG ? describe : describe.skip;
