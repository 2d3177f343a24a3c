import { it } from 'node:test';
import { IS_LONG } from '../counts.ts';

/** A test that is worth its processor time in the long suite only. It is `it` itself, so that reports name its file. */
export const itIfLong: (name: string, body: () => Promise<void>) => unknown = IS_LONG ? it : () => undefined;
