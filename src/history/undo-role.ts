import {
  doesNotFit,
  type Fields,
  type LoggedChange,
  listIn,
  noteEnd,
  type RelationOf,
  unknownBefore,
} from './logged-change.ts';
import type { PastState, RoleState } from './past-state.ts';

/** An entry about a role tells all of it, before and after. */
export function undoRole({ roles, ends }: PastState, change: LoggedChange, relationOf: RelationOf): void {
  const before = roleIn(change, 'before', relationOf);
  const after = roleIn(change, 'after', relationOf);
  const present = roles.get(change.objectId);
  if (!isSame(present, after)) throw doesNotFit(change);
  if (before) roles.set(change.objectId, before);
  else roles.delete(change.objectId);
  const teamEnds = (change.before.teamExpiries ?? {}) as Fields;
  const teams = [...(before?.teams ?? []), ...(after?.teams ?? [])];
  for (const team of teams) noteEnd(ends, `role:${change.objectId} ${team}`, teamEnds[team]);
}

function isSame(one: RoleState | undefined, other: RoleState | undefined): boolean {
  if (one === undefined || other === undefined) return one === other;
  return (
    one.relations.symmetricDifference(other.relations).size + one.teams.symmetricDifference(other.teams).size === 0
  );
}

function roleIn(change: LoggedChange, when: 'before' | 'after', relationOf: RelationOf): RoleState | undefined {
  const { name, description, permissions } = change[when];
  if (typeof name !== 'string') return undefined;
  const pairs = (Array.isArray(permissions) ? permissions : []) as { namespace: string; action: string }[];
  const relations = pairs.map((pair) => {
    const relation = relationOf(pair);
    if (relation !== undefined) return relation;
    throw unknownBefore(change, `a role had the permission "${pair.action}", which this release does not have`);
  });
  return {
    relations: new Set(relations),
    teams: new Set(listIn(change, when, 'teamIds')),
    described: { name, description: String(description ?? ''), permissions: pairs },
  };
}
