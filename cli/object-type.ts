import type { AccessMatrix } from '../client/api.gen.ts';
import { misuse } from './failure.ts';
import { OBJECT_TYPES } from './names.ts';
import { didYouMean } from './suggest.ts';

const TYPES: Readonly<Record<string, string>> = { org: 'organization', robot: 'robot_ac' };

/** The type that a word names, as the server calls it: `clusters`, `robot` or `org`. */
export function objectType(word: string): AccessMatrix['type'] {
  const single = word.toLowerCase().replace(/s$/, '');
  const type = TYPES[single] ?? single;
  if (OBJECT_TYPES.includes(single) || OBJECT_TYPES.includes(type)) return type as AccessMatrix['type'];
  const given = JSON.stringify(word.slice(0, 60));
  throw misuse(
    `${given} is not a type of object${didYouMean(single, OBJECT_TYPES)}; use one of ${OBJECT_TYPES.join(', ')}`,
  );
}
