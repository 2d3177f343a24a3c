import { useResource } from './resource.ts';

export interface ObjectName {
  readonly type: string;
  readonly id: bigint;
}

export interface Allowed {
  /** Undefined while the answer is on its way. */
  readonly may: (relation: string, object?: ObjectName) => boolean | undefined;
  readonly isKnown: boolean;
}

const MAX_OBJECTS = 1000;

/** What the caller may do with the objects of a page, in one call. Without an object, `may` is about the first one. */
export function useAllowed(org: string, objects: readonly ObjectName[], freshMs = 0): Allowed {
  const { data } = useResource(
    objects.length === 0 ? undefined : 'POST /authz/objects/allowed-permissions',
    objects.length === 0
      ? undefined
      : {
          query: { org },
          body: objects.slice(0, MAX_OBJECTS).map(({ type, id }) => ({ objectType: type, objectID: id })),
        },
    freshMs,
  );
  return {
    isKnown: data !== undefined,
    may: (relation, object = objects[0]) =>
      data
        ?.find((one) => one.objectType === object?.type && one.objectID === object?.id)
        ?.allowedPermissions.includes(relation),
  };
}
