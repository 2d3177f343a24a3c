import fc from 'fast-check';
import { SEED } from './random.ts';

// A run that fails now and then teaches people to run it again. TEST_SEED tries other values.
fc.configureGlobal({ seed: SEED });

export { fc };
