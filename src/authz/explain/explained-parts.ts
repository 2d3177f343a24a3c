import type { MissingLink } from '../../../packages/rebac/src/rebac.ts';

export interface ShownTuple {
  readonly user: string;
  readonly relation: string;
  readonly object: string;
}

export interface NamedTuple extends ShownTuple {
  readonly userName: string;
  readonly objectName: string;
}

/** What is missing, for programs: `missing` says the same in sentences. */
export interface MissingParts {
  /** Tuples that would grant if they were added. While a relation excludes the user, none would. */
  readonly needs: readonly NamedTuple[];
  /** Relations that exclude the user. */
  readonly excludedBy: readonly { readonly object: string; readonly relation: string; readonly name: string }[];
  /** Tuples on the way that exist already. */
  readonly trail: readonly NamedTuple[];
}

export function partsOf(missing: MissingLink | undefined, nameOf: (object: string) => string): MissingParts {
  const named = (tuple: ShownTuple): NamedTuple => ({
    ...shown(tuple),
    userName: nameOf(objectOf(tuple.user)),
    objectName: nameOf(tuple.object),
  });
  const isExcluded = (missing?.excludedBy.length ?? 0) > 0;
  return {
    needs: (isExcluded ? [] : (missing?.add ?? [])).map(named),
    excludedBy: (missing?.excludedBy ?? []).map(({ object, relation }) => ({ object, relation, name: nameOf(object) })),
    trail: (isExcluded ? [] : (missing?.trail ?? [])).map(named),
  };
}

export function shown({ user, relation, object }: ShownTuple): ShownTuple {
  return { user, relation, object };
}

/** `team:4#member` is about `team:4`. */
export function objectOf(subject: string): string {
  return subject.split('#')[0] ?? subject;
}

/** A built-in team stays, so nothing that could be added would help. */
export function withoutVain(missing: MissingLink | undefined): MissingLink | undefined {
  return missing?.excludedBy.some(({ relation }) => relation === 'built_in') ? { ...missing, add: [] } : missing;
}
