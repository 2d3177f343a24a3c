import { IS_LONG, IS_WHOLE } from '../../counts.ts';
import { ANY_DRIVER, DRIVERS, type Driver } from './db.ts';

const OTHERS = DRIVERS.filter((driver) => driver !== ANY_DRIVER);

/**
 * For tests above the stores: one database in the everyday suite, the other one in the long suite, both in a lane that is
 * named. The SQL is the same on both. test/db tests how they differ, and the sessions of test/cli/stories try every store
 * on PGlite.
 */
export const API_DRIVERS: readonly Driver[] = IS_WHOLE ? DRIVERS : IS_LONG ? OTHERS : [ANY_DRIVER];
/** The same for tests whose counts are larger in the long suite, which then takes both. */
export const COUNTED_DRIVERS: readonly Driver[] = IS_LONG ? DRIVERS : [ANY_DRIVER];
