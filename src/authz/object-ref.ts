import type { ModelType } from '../changes/object-kinds.ts';

export interface ObjectRef {
  readonly type: Exclude<ModelType, 'platform' | 'namespace'>;
  readonly id: bigint;
}

/** An object that a question is about. */
export interface AskedObject extends ObjectRef {
  /** Of a cluster: the question is about what can be done there. */
  readonly namespace?: string | undefined;
}

export function nameOf({ type, id }: ObjectRef): string {
  return `${type}:${id}`;
}

/** Compares objects of one type, such as `team:9` and `team:10`, by their numbers. */
export function byId(one: string, other: string): number {
  return one.length - other.length || (one < other ? -1 : 1);
}

/** `4` of `team:4`. */
export function idOf(object: string): bigint {
  return BigInt(object.slice(object.indexOf(':') + 1));
}
