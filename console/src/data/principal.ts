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
