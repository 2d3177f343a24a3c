/** The kinds of objects that a caller may ask about. */
export const OBJECT_TYPES = ['user', 'organization', 'team', 'cluster', 'contract', 'robot_ac', 'token'] as const;
export type ObjectType = (typeof OBJECT_TYPES)[number];

export interface ObjectRef {
  readonly type: ObjectType | 'role';
  readonly id: bigint;
}

export function nameOf({ type, id }: ObjectRef): string {
  return `${type}:${id}`;
}
