import { OBJECT_KINDS } from '../../../client/object-kinds.gen.ts';
import { NAMED_TYPES } from '../../../client/object-kinds.ts';
import { orgPath } from './org.ts';

/** A user or a robot in an answer about who may do what. Robots have IDs of their own. */
export interface Principal {
  readonly type?: string;
  readonly id: number | bigint;
  readonly name: string;
}

/** How questions name it: `ann`, `robot:deploy`. */
export function askedName({ type, name }: Omit<Principal, 'id'>): string {
  return type === 'robot_ac' ? `robot:${name}` : name;
}

/** Robot 5 is not user 5. */
export function principalKey({ type = 'user', id }: Omit<Principal, 'name'>): string {
  return `${type}:${id}`;
}

/** The page of a user, a robot, or an object of the organization. Undefined if it has none. */
export function objectPath(
  org: string,
  { type = 'user', id, name }: { readonly type?: string; readonly id: number | bigint | null; readonly name: string },
): string | undefined {
  if (type === 'user') return orgPath(org, `/members/${encodeURIComponent(name)}`);
  if (type === 'organization') return orgPath(org);
  const named = NAMED_TYPES.find((one) => one === type);
  return named && id !== null ? orgPath(org, `/${OBJECT_KINDS[named].plural}/${id}`) : undefined;
}
