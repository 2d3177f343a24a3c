/** Creates the PGlite databases that most tests copy, in a process of its own, before several processes need them at once. */
import { migrated, newCopy } from '../support/server/db.ts';
import { DEMO_WORLD } from '../support/server/server.ts';

for (const template of [migrated(), DEMO_WORLD]) await newCopy('pglite', template);
// What node:test has to say about a process without tests is of no interest.
process.exit(0);
