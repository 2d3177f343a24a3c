import { ApiError } from '../client/errors.ts';
import { misuse } from './failure.ts';
import type { ObjectRef } from './names.ts';
import { didYouMean } from './suggest.ts';

/** `connect` means `can_connect`. Any other relation, such as `member`, is written with a leading colon. */
export function relationNamed(text: string): string {
  if (text.startsWith(':')) return text.slice(1);
  const word = text
    .trim()
    .toLowerCase()
    .replaceAll(/[\s-]+/g, '_');
  return word.startsWith('can_') ? word : `can_${word}`;
}

/** The server knows the model. The list that is part of this program only helps to suggest the right word. */
export async function orRelationHint<T>(asked: Promise<T>, relation: string, object: ObjectRef): Promise<T> {
  try {
    return await asked;
  } catch (error) {
    if (!(error instanceof ApiError) || error.reason !== 'unknown_relation') throw error;
    const { RELATIONS } = await import('./relations.gen.ts');
    const known = RELATIONS[object.type] ?? [];
    const hint = didYouMean(relation, known);
    throw misuse(`${error.message}${hint || (known.length > 0 ? `; use one of ${known.join(', ')}` : '')}`);
  }
}
