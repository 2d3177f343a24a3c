import { idOf } from '../authz/object-ref.ts';
import type { GraphTuple } from '../changes/graph-tuple.ts';

/** Where a role is assigned on single objects. */
export interface RolePlaces {
  /** Such as `assignment:31`. */
  readonly assignments: ReadonlySet<string>;
  /** The teams that have the role there. */
  readonly teamIds: ReadonlySet<bigint>;
}

/** By role, such as `role:4`. */
export function rolePlacesIn(structure: readonly GraphTuple[]): ReadonlyMap<string, RolePlaces> {
  const found = new Map<string, { assignments: Set<string>; teamIds: Set<bigint> }>();
  const roleOf = new Map<string, string>();
  const about = structure.filter(({ object }) => object.startsWith('assignment:'));
  for (const { object, relation, user } of about) {
    if (relation !== 'role') continue;
    const places = found.get(user) ?? { assignments: new Set(), teamIds: new Set() };
    places.assignments.add(object);
    found.set(user, places);
    roleOf.set(object, user);
  }
  for (const { object, user } of about) {
    if (user.endsWith('#member'))
      found.get(roleOf.get(object) ?? '')?.teamIds.add(idOf(user.slice(0, user.indexOf('#'))));
  }
  return found;
}
