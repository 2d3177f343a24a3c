import { registerHooks } from 'node:module';
import { pathToFileURL } from 'node:url';
import type { Mutant } from './mutants.ts';

/** Replaces a part of one source file, in this process only: `MUTANT` is a Mutant as JSON. */
const { file, start, end, text } = JSON.parse(process.env.MUTANT ?? '{}') as Mutant;
const target = pathToFileURL(file).href;

registerHooks({
  load(url, context, next) {
    const loaded = next(url, context);
    if (url !== target) return loaded;
    const source = Buffer.from(loaded.source as Uint8Array).toString();
    return { ...loaded, source: `${source.slice(0, start)}${text}${source.slice(end)}` };
  },
});
