import { misuse } from './failure.ts';
import { readId } from './names.ts';

const ALIASES: Readonly<Record<string, string>> = { org: 'organization', robot: 'robot_ac' };

/** The server rejects any other. */
type ObjectType = 'cluster' | 'contract' | 'organization' | 'robot_ac' | 'team' | 'token';

/** `cluster:prod`, `team:7`, or a type alone. The server looks names up. */
export function readObject(text: string): { type: ObjectType; id?: bigint; name?: string } {
  const [typed = '', name] = text.split(/:(.*)/s);
  const type = (ALIASES[typed] ?? typed) as ObjectType;
  if (typed === '' || name === '') {
    throw misuse(`${JSON.stringify(text)} is not an object; use a type and a name, such as cluster:prod`);
  }
  if (name === undefined) return { type };
  return /^\d+$/.test(name) ? { type, id: readId(name) } : { type, name };
}
