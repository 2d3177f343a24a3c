import { IS_LONG } from '../counts.ts';
import { ANY_DRIVER, DRIVERS, type Driver } from './db.ts';

/**
 * For tests above the stores: both databases in the long suite, one of them everyday. The SQL is the same on both; how
 * they differ is tested in test/db, and the sessions of test/cli/stories try every store on PGlite.
 */
export const API_DRIVERS: readonly Driver[] = IS_LONG ? DRIVERS : [ANY_DRIVER];
