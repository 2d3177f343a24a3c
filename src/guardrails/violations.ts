import { createPace } from '../base/slices.ts';
import { OBJECT_KINDS } from '../changes/object-kinds.ts';
import type { Graph } from '../rebac/graph.ts';
import { type GuardrailRule, MAX_VIOLATORS, type Violation } from './guardrail.ts';
import { type PeopleClass, type PeopleGraph, peopleOf } from './people-graph.ts';

type Identified = GuardrailRule & { readonly id: bigint };

/**
 * The guardrails that do not hold in a graph of their organization. The graph is only read, so it may be one in which a
 * change is tried out.
 */
export async function violations(graph: Graph, guardrails: readonly Identified[]): Promise<Map<bigint, Violation>> {
  return await violationsAmong(peopleOf(graph), guardrails);
}

/** The same for a graph whose people are known. It must not change meanwhile: others may work in between. */
export async function violationsAmong(
  people: PeopleGraph,
  guardrails: readonly Identified[],
): Promise<Map<bigint, Violation>> {
  const pace = createPace();
  const holds = createHolds(people);
  const found = new Map<bigint, Violation>();
  for (const guardrail of guardrails) {
    const violation = isVacuous(people, guardrail) ? undefined : violationOf(people, guardrail, holds);
    if (violation) found.set(guardrail.id, violation);
    await pace();
  }
  return found;
}

type Holds = (people: PeopleClass, rule: GuardrailRule) => boolean;

/** Remembers the answers of one pass: many guardrails are about the same object. */
function createHolds(people: PeopleGraph): Holds {
  const answers = new Map<PeopleClass, Map<string, ReadonlySet<string>>>();
  return (one, { kind, relation, objectType: type, objectId }) => {
    // Who can do something through the organization is counted without the site administrators, who can do anything.
    const asAdministrators = kind === 'never' || kind === 'always';
    const object = objectId === undefined ? `any ${type} ${relation}` : `${type}:${objectId}`;
    const key = asAdministrators ? `${object} as administrator` : object;
    const known = answers.get(one) ?? new Map<string, ReadonlySet<string>>();
    answers.set(one, known);
    let relations = known.get(key);
    if (relations === undefined) {
      relations =
        objectId === undefined
          ? new Set(people.holdsOnAny(one, relation, type, asAdministrators) ? [relation] : [])
          : new Set(people.relationsOn(one, object, asAdministrators));
      known.set(key, relations);
    }
    return relations.has(relation);
  };
}

/** A statement about an object that is gone says nothing. One about a team or a user that is gone is about nobody. */
function isVacuous(people: PeopleGraph, { objectType, objectId }: GuardrailRule): boolean {
  return objectId !== undefined && !people.hasSource(`${OBJECT_KINDS[objectType].source}:${objectId}`);
}

function violationOf(people: PeopleGraph, rule: GuardrailRule, holds: Holds): Violation | undefined {
  const { kind, count = 0 } = rule;
  if (kind === 'at_least' || kind === 'at_most') {
    const holding = [...people.classes].filter((one) => holds(one, rule));
    const held = holding.reduce((sum, { users }) => sum + users.size, 0);
    if (kind === 'at_least') return held < count ? { userIds: [], total: 0, held } : undefined;
    return held > count ? { ...listed(usersOf(holding)), held } : undefined;
  }
  const isViolation = (one: PeopleClass) => holds(one, rule) === (kind === 'never');
  const found = new Set(usersOf(membersOf(people, rule.teamId).filter(isViolation)));
  for (const id of rule.userIds) {
    const user = `user:${id}`;
    const one = people.classOf(user);
    if (one ? isViolation(one) : kind === 'always') found.add(user);
  }
  return found.size > 0 ? { ...listed([...found]), held: undefined } : undefined;
}

function membersOf(people: PeopleGraph, teamId: bigint | undefined): PeopleClass[] {
  return teamId === undefined ? [] : [...people.classes].filter((one) => people.isMember(one, teamId));
}

function usersOf(classes: readonly PeopleClass[]): string[] {
  return classes.flatMap(({ users }) => [...users]);
}

function listed(users: readonly string[]): { userIds: bigint[]; total: number } {
  const ids = users.map((user) => BigInt(user.slice('user:'.length))).sort((a, b) => (a < b ? -1 : 1));
  return { userIds: ids.slice(0, MAX_VIOLATORS), total: ids.length };
}

/** Whether a change made it worse: another person violates it, or the number is further off. */
export function isWorse(rule: GuardrailRule, before: Violation | undefined, after: Violation): boolean {
  if (!before) return true;
  if (rule.kind === 'at_least') return (after.held ?? 0) < (before.held ?? 0);
  if (rule.kind === 'at_most') return (after.held ?? 0) > (before.held ?? 0);
  if (after.total > before.total) return true;
  if (before.total > MAX_VIOLATORS) return false;
  const known = new Set(before.userIds);
  return after.userIds.some((id) => !known.has(id));
}
