import { check, type Graph } from '../../packages/rebac/src/rebac.ts';
import { byId } from '../authz/object-ref.ts';
import { exampleOf, type Grant, relationsOf, type Sees } from './map-grants.ts';

/** A line between two neighbors, with a question whose answer is yes because of it. */
export interface Line {
  readonly from: string;
  readonly to: string;
  readonly why: { readonly user: string; readonly relation: string; readonly object: string } | undefined;
}

export interface Counted {
  /** Such as `team:4`. */
  readonly object: string;
  /** How many users and robots have it, or are in it. */
  readonly people: number;
}

export interface DrawnGrant {
  readonly key: string;
  readonly role: string | undefined;
  readonly permission: string | undefined;
  readonly namespaces: readonly string[];
  /** What it allows in its place. */
  readonly relations: readonly string[];
  readonly people: number;
}

/** The four columns, the lines between them, and how many of each column are left out. */
export interface Drawing {
  readonly people: readonly Counted[];
  readonly teams: readonly Counted[];
  readonly grants: readonly DrawnGrant[];
  readonly places: readonly Counted[];
  readonly lines: readonly Line[];
  readonly leftOut: Readonly<Record<'people' | 'teams' | 'grants' | 'places', number>>;
}

/** A picture with more in a column cannot be taken in. Boxes that are left out can be asked for by name. */
const MAX_DRAWN = 14;
interface Drawn {
  readonly grant: Grant;
  readonly key: string;
  readonly place: string;
  readonly example: string | undefined;
  readonly relations: readonly string[];
}

/**
 * The grants with the most people, whose teams they are, and what they are on; and the users with the most lines.
 * `members` has the users of each holder, `placeOf` what a grant is drawn to.
 */
export function* draw(
  graph: Graph,
  all: readonly Grant[],
  members: ReadonlyMap<string, readonly string[]>,
  placeOf: (grant: Grant) => string,
  sees: Sees,
): Generator<void, Drawing, void> {
  const usersOf = (holder: string) => members.get(holder) ?? [];
  const sizes = new Map<Grant, number>();
  for (const grant of all) {
    // Users of two of its teams count twice here, because counting each once takes long for many grants.
    sizes.set(
      grant,
      [...grant.holders].reduce((sum, holder) => sum + usersOf(holder).length, 0),
    );
    yield;
  }
  const drawn: Drawn[] = [];
  // A grant in the whole organization reaches more than one on a single object.
  const reach = ({ place }: Grant) => Number(place.startsWith('organization:'));
  const byPeople = (one: Grant, other: Grant) => (sizes.get(other) ?? 0) - (sizes.get(one) ?? 0);
  for (const grant of first(all, (one, other) => byPeople(one, other) || reach(other) - reach(one))) {
    const place = placeOf(grant);
    const example = yield* exampleOf(graph, place, sees);
    const relations = example === undefined ? [] : relationsOf(graph, grant, example);
    drawn.push({ grant, key: `grant:${drawn.length}`, place, example, relations });
    yield;
  }
  const places = [...new Set(drawn.map(({ place }) => place))];
  const candidates = teamsOf(drawn.map(({ grant }) => grant));
  const teams = first(candidates, (one, other) => usersOf(other).length - usersOf(one).length || byId(one, other));
  const people = yield* busiest(drawn, teams, usersOf);
  const holders = new Set([...people, ...teams]);
  const lines: Line[] = [];
  for (const team of teams) {
    const users = new Set(usersOf(team));
    const through = drawn.find(({ grant }) => grant.holders.has(team));
    for (const user of people.filter((one) => users.has(one))) {
      lines.push({ from: user, to: team, why: through && (yield* whyOf(graph, through, user)) });
    }
    yield;
  }
  for (const one of drawn) {
    for (const holder of one.grant.holders) {
      if (!holders.has(holder)) continue;
      lines.push({ from: holder, to: one.key, why: yield* whyOf(graph, one, usersOf(holder)[0]) });
    }
    yield;
    const someHolder = one.grant.holders.values().find((holder) => usersOf(holder).length > 0) ?? '';
    const why = yield* whyOf(graph, one, usersOf(someHolder)[0]);
    lines.push({ from: one.key, to: placeKey(places.indexOf(one.place)), why });
  }
  const grants: DrawnGrant[] = [];
  for (const { grant, key, relations } of drawn) {
    const { role, permission, namespaces } = grant;
    const count = yield* countPeople(grant.holders, usersOf);
    grants.push({ key, role, permission, namespaces, relations, people: count });
  }
  const placed: Counted[] = [];
  for (const object of places) {
    const there = drawn.filter(({ place }) => place === object).flatMap(({ grant }) => [...grant.holders]);
    placed.push({ object, people: yield* countPeople(new Set(there), usersOf) });
  }
  const allPeople = yield* countPeople(members.keys(), usersOf);
  return {
    people: people.map((object) => ({ object, people: 1 })),
    teams: teams.map((object) => ({ object, people: usersOf(object).length })),
    grants,
    places: placed,
    lines,
    leftOut: {
      people: allPeople - people.length,
      teams: teamsOf(all).length - teams.length,
      grants: all.length - drawn.length,
      places: new Set(all.map(placeOf)).size - places.length,
    },
  };
}

/** Not its name, because a team can be a holder and a place. */
export function placeKey(index: number): string {
  return `place:${index}`;
}

/** Users and robots with the most lines. */
function* busiest(
  drawn: readonly Drawn[],
  teams: readonly string[],
  usersOf: (holder: string) => readonly string[],
): Generator<void, readonly string[], void> {
  const onward = new Map(teams.map((team) => [team, 1]));
  for (const holder of drawn.flatMap(({ grant }) => [...grant.holders])) {
    if (onward.has(holder) || !holder.startsWith('team:')) onward.set(holder, (onward.get(holder) ?? 0) + 1);
  }
  const lines = new Map<string, number>();
  for (const [holder, count] of onward) {
    for (const user of usersOf(holder)) lines.set(user, (lines.get(user) ?? 0) + count);
    yield;
  }
  return first(
    [...lines.keys()],
    (one, other) => (lines.get(other) ?? 0) - (lines.get(one) ?? 0) || byTypeAndId(one, other),
  );
}

/** The first ones in this order. There may be 50,000, so they are not sorted. */
function first<T>(all: readonly T[], compare: (one: T, other: T) => number): readonly T[] {
  const found: T[] = [];
  for (const one of all) {
    const last = found[MAX_DRAWN - 1];
    if (last !== undefined && compare(one, last) >= 0) continue;
    const place = found.findIndex((other) => compare(one, other) < 0);
    found.splice(place < 0 ? found.length : place, 0, one);
    found.length = Math.min(found.length, MAX_DRAWN);
  }
  return found;
}

function teamsOf(grants: readonly Grant[]): readonly string[] {
  const holders = new Set<string>();
  for (const grant of grants) for (const holder of grant.holders) if (holder.startsWith('team:')) holders.add(holder);
  return [...holders];
}

/** Each once. */
function* countPeople(
  holders: Iterable<string>,
  usersOf: (holder: string) => readonly string[],
): Generator<void, number, void> {
  const all = new Set<string>();
  for (const holder of holders) {
    for (const one of usersOf(holder)) all.add(one);
    yield;
  }
  return all.size;
}

/** More than a view if the grant allows it. Another rule may exclude a user from it, such as the last owner. */
function* whyOf(
  graph: Graph,
  { example: object, relations }: Drawn,
  user: string | undefined,
): Generator<void, Line['why'], void> {
  if (user === undefined || object === undefined) return undefined;
  const more = relations.filter((relation) => relation !== 'can_view');
  for (const relation of more.length < relations.length ? [...more, 'can_view'] : more) {
    if (check(graph, { user, relation, object })) return { user, relation, object };
    // For a user in a thousand teams, this takes milliseconds.
    yield;
  }
  return undefined;
}

/** Robots come after users. */
function byTypeAndId(one: string, other: string): number {
  return Number(one.startsWith('robot_ac:')) - Number(other.startsWith('robot_ac:')) || byId(one, other);
}
