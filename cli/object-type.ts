import type { AccessMatrix } from '../client/api.gen.ts';

const TYPES: Readonly<Record<string, string>> = { org: 'organization', robot: 'robot_ac' };

/** The type that a word names, as the server calls it: `clusters`, `robot` or `org`. The server rejects what is none. */
export function objectType(word: string): AccessMatrix['type'] {
  const single = word.toLowerCase().replace(/s$/, '');
  return (TYPES[single] ?? single) as AccessMatrix['type'];
}
