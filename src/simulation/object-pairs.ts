import { createYielder } from '../base/scheduling/slices.ts';
import { type ObjectClass, STRUCTURE, typeOf } from './object-classes.ts';
import type { Simulation } from './simulation.ts';

/** Objects that are alike before, and alike after the changes. */
export interface ObjectPair {
  readonly type: string;
  /** Undefined if the changes create the objects. */
  readonly before: ObjectClass | undefined;
  /** Undefined if the changes delete them. */
  readonly after: ObjectClass | undefined;
  readonly objects: string[];
}

const OBJECTS_IN_PIECE = 100;

export type ObjectPairs = Awaited<ReturnType<typeof pairObjects>>;

/**
 * The objects that a comparison has to look at. Most are ordinary: the organization has them, and nothing else is stated
 * about them, so everything about them follows from the organization.
 */
export async function pairObjects({ organization, before, after, movedObjects, copy }: Simulation) {
  const ordinaryFact = `organization ${organization}`;
  const pairs = new Map<string, ObjectPair>();
  const pairOf = new Map<string, ObjectPair>();
  const rolesOf = new Map<bigint, Set<string>>();
  const yieldIfDue = createYielder();
  let seen = 0;
  for (const id of new Set([...before.teams.keys(), ...after.teams.keys()])) enter(`team:${id}`);
  for (const id of new Set([...before.roles.keys(), ...after.roles.keys()])) {
    enter(`role:${id}`);
    for (const { roles } of [before, after]) {
      for (const team of roles.get(id)?.teamIds ?? []) {
        rolesOf.set(team, (rolesOf.get(team) ?? new Set()).add(`role:${id}`));
      }
    }
  }
  // There may be a hundred thousand. About those that are ordinary, nothing is ever listed.
  for (const [object, facts] of copy.objects.facts) {
    if (facts !== ordinaryFact && !STRUCTURE.has(typeOf(object))) enter(object);
    if (++seen % OBJECTS_IN_PIECE === 0) await yieldIfDue();
  }
  // One that has become ordinary is not among them.
  for (const object of movedObjects.keys()) if (!STRUCTURE.has(typeOf(object)) && !pairOf.has(object)) enter(object);
  const types = new Set(pairs.values().map(({ type }) => type));
  const ordinary = new Map([...types].map((type) => [type, copy.objects.classFor(type, ordinaryFact)]));
  const listed = [...pairs.values()];
  const classes = listed.flatMap((pair) => [pair.before, pair.after, ordinary.get(pair.type)]);
  const samples = [...new Set(classes.flatMap((one) => one?.sample ?? []))];
  return { pairs: listed, samples, ordinary, pairOf: pairOf as ReadonlyMap<string, ObjectPair>, isOrdinary, ownOf };

  function isOrdinary({ type, before: had, after: has }: ObjectPair): boolean {
    const usual = ordinary.get(type);
    return had === usual && has === usual;
  }

  /**
   * What may be different for the members of these teams than for other users: the teams themselves, and their roles.
   * Where no change is about the team, being in it makes a difference only if the team is not ordinary.
   */
  function ownOf(teamIds: readonly bigint[], touched: ReadonlySet<bigint>): string[] {
    const found = teamIds.flatMap((id) => {
      const team = pairOf.get(`team:${id}`);
      if (touched.has(id)) return [`team:${id}`, ...(rolesOf.get(id) ?? [])];
      return team && !isOrdinary(team) ? [`team:${id}`] : [];
    });
    return [...new Set(found)];
  }

  function enter(object: string): void {
    const type = typeOf(object);
    const has = copy.objects.classOf(object);
    const had = movedObjects.has(object) ? movedObjects.get(object) : has;
    const key = `${type}|${had?.sample}|${has?.sample}`;
    const pair = pairs.get(key) ?? { type, before: had, after: has, objects: [] };
    pair.objects.push(object);
    pairs.set(key, pair);
    pairOf.set(object, pair);
  }
}
