import type { AccessMatrix } from '../client/api.gen.ts';
import { misuse } from './failure.ts';
import { OBJECT_WORDS, typeOf } from './names.ts';
import { didYouMean } from './suggest.ts';

/** The type that a word names, as the server calls it: `clusters`, `robot` or `org`. */
export function objectType(word: string): AccessMatrix['type'] {
  const single = word.toLowerCase().replace(/s$/, '');
  const type = typeOf(single);
  if (OBJECT_WORDS.includes(single) || OBJECT_WORDS.includes(type)) return type as AccessMatrix['type'];
  const given = JSON.stringify(word.slice(0, 60));
  throw misuse(
    `${given} is not a type of object${didYouMean(single, OBJECT_WORDS)}; use one of ${OBJECT_WORDS.join(', ')}`,
  );
}
