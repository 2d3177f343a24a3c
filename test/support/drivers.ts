import { IS_LONG } from '../counts.ts';
import { ANY_DRIVER, DRIVERS, type Driver } from './db.ts';

/**
 * For tests above the stores: both databases in the long suite, one of them in the everyday suite. The SQL is the same
 * on both. test/db tests how they differ, and the sessions of test/cli/stories try every store on PGlite.
 */
export const API_DRIVERS: readonly Driver[] = IS_LONG ? DRIVERS : [ANY_DRIVER];
