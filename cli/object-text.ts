import type { GuardedType } from '../client/object-kinds.ts';
import { misuse } from './failure.ts';
import { readId, typeOf } from './names.ts';

/** `cluster:prod`, `team:7`, or a type alone. The server looks names up, and rejects any other type. */
export function readObject(text: string): { type: GuardedType; id?: bigint; name?: string } {
  const [typed = '', name] = text.split(/:(.*)/s);
  const type = typeOf(typed) as GuardedType;
  if (typed === '' || name === '') {
    throw misuse(`${JSON.stringify(text)} is not an object; use a type and a name, such as cluster:prod`);
  }
  if (name === undefined) return { type };
  return /^\d+$/.test(name) ? { type, id: readId(name) } : { type, name };
}
