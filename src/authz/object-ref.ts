import type { ObjectType } from '../changes/object-kinds.ts';

export interface ObjectRef {
  readonly type: ObjectType | 'role';
  readonly id: bigint;
}

export function nameOf({ type, id }: ObjectRef): string {
  return `${type}:${id}`;
}
