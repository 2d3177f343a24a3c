/**
 * Through what access was used.
 *
 * 1. A use is known as a user, a relation and an object. It is credited to memberships, assignments and permissions of
 *    roles as they are now: to those without which the answer would be no.
 * 2. If there are several ways to the yes, exactly one of them is credited: one that is needed anyway, if there is one.
 *    So whatever is not credited can be ended, all of it at the same time, and every use would still be allowed.
 * 3. What was used before the period is no reason to keep anything. It is only remembered when that was.
 * 4. The assignments of a user end when they leave their last team. So a user of whom an assignment is credited needs
 *    one membership, whatever that gives.
 * 5. A use in some namespaces of a cluster does not say in which, so all assignments that allow it there are credited.
 */

import { allowed, explainAll, type Graph, type Step } from '../../packages/rebac/src/rebac.ts';
import { createObjectAnswers } from '../authz/alike-answers.ts';
import { assignmentsOn, IN_NAMESPACES } from '../authz/places/namespaces.ts';
import { ANY_RELATION } from '../authz/uses/access-uses.ts';
import { isSingle } from '../changes/principal.ts';

export interface Use {
  /** As in the graph, such as `user:5`. */
  readonly user: string;
  readonly relation: string;
  readonly object: string;
  readonly day: string;
}

/** By key of what was used: the last day. */
export interface Credits {
  readonly used: ReadonlyMap<string, string>;
  /** Before the period, as one of possibly several ways. */
  readonly earlier: ReadonlyMap<string, string>;
}

/** Each way is the keys of all that it needs. */
type Ways = readonly (readonly string[])[];

interface TupleText {
  readonly user: string;
  readonly relation: string;
  readonly object: string;
}

/** The ways of one answer that are looked at. More of them give nothing that these do not. */
const MAX_WAYS = 30;

/**
 * @param since the first day of the period
 * @param teamsOf the keys of the memberships of a user
 */
export function* creditUses(
  graph: Graph,
  uses: readonly Use[],
  since: string,
  teamsOf: (user: string) => readonly string[],
): Generator<void, Credits, void> {
  const used = new Map<string, string>();
  const earlier = new Map<string, string>();
  const found: { readonly ways: Ways; readonly day: string }[] = [];
  const newestFirst = uses.toSorted((one, other) => (one.day < other.day ? 1 : one.day > other.day ? -1 : 0));
  for (const [user, own] of Map.groupBy(newestFirst, (use) => use.user)) {
    const asks = new Map<string, (graph: Graph, object: string) => Ways>();
    const seen = new Set<Ways>();
    for (const { relation, object, day } of own) {
      const ask = asks.get(relation) ?? createObjectAnswers(user, (_, one) => waysOf(graph, user, relation, one));
      asks.set(relation, ask);
      const ways = ask(graph, object);
      yield;
      // Objects that are alike share the answer, and the newest use came first.
      if (ways.length === 0 || seen.has(ways)) continue;
      seen.add(ways);
      if (day < since) for (const key of ways.flat()) keepLatest(earlier, key, day);
      else found.push({ ways, day });
    }
  }
  for (const { ways, day } of found) for (const key of shared(ways)) keepLatest(used, key, day);
  for (const { ways, day } of found) {
    for (const key of cheapest(ways, used)) keepLatest(used, key, day);
    yield;
  }
  for (const [key, day] of [...used]) {
    const [, relation, user = ''] = key.split(' ');
    const teams = relation === 'assignee' ? teamsOf(user) : [];
    const [first] = teams;
    if (first !== undefined) keepLatest(used, teams.find((one) => used.has(one)) ?? first, day);
  }
  return { used, earlier };
}

/** What a user was allowed, in all ways. */
function waysOf(graph: Graph, user: string, relation: string, object: string): Ways {
  if (relation !== ANY_RELATION) return waysTo(graph, user, relation, object);
  // A caller who asks for everything may use everything, so each relation has a way of its own. One list for all of
  // them.
  const needed = new Set<string>();
  for (const one of allowed(graph, user, object, { prefix: 'can_' })) {
    for (const key of cheapest(waysTo(graph, user, one, object), needed)) needed.add(key);
  }
  return needed.size === 0 ? [] : [[...needed]];
}

function waysTo(graph: Graph, user: string, relation: string, object: string): Ways {
  const ways = explainAll(graph, { user, relation, object }, MAX_WAYS).ways.map(keysIn);
  const somewhere = inNamespaces(graph, user, relation, object);
  // A way without keys is that of a site administrator. Its user can lose it any day, and keeps what was given otherwise.
  const found = [...ways, ...somewhere].filter((keys) => keys.length > 0);
  if (somewhere.length > 0) return [[...new Set(found.flat())]];
  return [...new Map(found.map((keys) => [keys.join('\n'), keys])).values()];
}

function inNamespaces(graph: Graph, user: string, relation: string, object: string): Ways {
  const given = IN_NAMESPACES.get(relation)?.given;
  if (given === undefined) return [];
  return assignmentsOn(graph, object).flatMap((assignment) =>
    explainAll(graph, { user, relation: given, object: assignment }, 1).ways.map(keysIn),
  );
}

function keysIn(way: readonly Step[]): string[] {
  return [...new Set(way.flatMap(({ tuple }) => (tuple && keyOf(tuple)) ?? []))];
}

/** What a tuple comes from, if that can be ended. */
export function keyOf({ object, relation, user }: TupleText): string | undefined {
  if (relation === 'member' || relation === 'assignee') {
    return isSingle(user) ? `${object} ${relation} ${user}` : undefined;
  }
  if (user.startsWith('role:') && object.startsWith('organization:')) {
    return permissionKey(user.slice(0, user.indexOf('#')), relation);
  }
  if (relation.startsWith('allows_')) return permissionKey(object, `can_${relation.slice('allows_'.length)}`);
  return undefined;
}

/** @param role such as `role:3` */
export function permissionKey(role: string, relation: string): string {
  return `${role} contains ${relation}`;
}

function shared(ways: Ways): string[] {
  const [first = [], ...others] = ways;
  return first.filter((key) => others.every((way) => way.includes(key)));
}

/** The way that needs the least besides what is needed already. */
function cheapest(ways: Ways, needed: { has(key: string): boolean }): readonly string[] {
  let best: readonly string[] = [];
  let least = Number.POSITIVE_INFINITY;
  for (const way of ways) {
    const more = way.filter((key) => !needed.has(key)).length;
    if (more >= least) continue;
    best = way;
    least = more;
  }
  return best;
}

function keepLatest(days: Map<string, string>, key: string, day: string): void {
  const known = days.get(key);
  if (known === undefined || known < day) days.set(key, day);
}
