import { registerHooks } from 'node:module';
import { pathToFileURL } from 'node:url';
import { applyTo, type Mutant } from './mutants.ts';

/** Replaces a part of one source file, in this process only: `MUTANT` is a Mutant as JSON. */
const mutant = JSON.parse(process.env.MUTANT ?? '{}') as Mutant;
const target = pathToFileURL(mutant.file).href;

registerHooks({
  load(url, context, next) {
    const loaded = next(url, context);
    if (url !== target) return loaded;
    return { ...loaded, source: applyTo(Buffer.from(loaded.source as Uint8Array).toString(), mutant) };
  },
});
