import { IN_NAMESPACES } from '../authz/places/namespaces.ts';
import { createYielder, type Yielder } from '../base/scheduling/slices.ts';
import { principalOfSubject, subjectOfPrincipal } from '../changes/principal.ts';
import type { OrganizationCopy } from '../simulation/organization-copy.ts';
import type { PeopleClass } from '../simulation/people-classes.ts';
import { byPrincipal, type GuardrailRule, MAX_VIOLATORS, type Violation } from './guardrail.ts';

type Identified = GuardrailRule & { readonly id: bigint };

/** The guardrails that do not hold in a copy. It must not change meanwhile: other requests may run in between. */
export async function violationsAmong(
  copy: OrganizationCopy,
  guardrails: readonly Identified[],
): Promise<Map<bigint, Violation>> {
  const yieldIfDue = createYielder();
  const found = new Map<bigint, Violation>();
  if (guardrails.some(({ count, teamId }) => count !== undefined || teamId !== undefined)) {
    await copy.answers.enterAll(copy.people.all);
  }
  for (const guardrail of guardrails) {
    const violation = isVacuous(copy, guardrail) ? undefined : await violationOf(copy, guardrail, yieldIfDue);
    if (violation) found.set(guardrail.id, violation);
    await yieldIfDue();
  }
  return found;
}

async function holds(
  copy: OrganizationCopy,
  one: PeopleClass,
  rule: GuardrailRule,
  yieldIfDue: Yielder,
): Promise<boolean> {
  const { kind, relation, objectType: type, objectId } = rule;
  // Who can do something through the organization is counted without the site administrators, who can do anything.
  const asAdministrators = kind === 'never' || kind === 'always';
  const holdsOn = (name: string, object: string) => copy.answers.holds(one, name, object, asAdministrators);
  const inNamespaces = type === 'cluster' && copy.objects.hasNamespaces ? IN_NAMESPACES.get(relation) : undefined;
  const isHeld = (object: string) => {
    const isShown = copy.answers.relationsOn(one, object, asAdministrators).includes(relation);
    if (inNamespaces === undefined) return isShown;
    // What is held in some namespaces only counts as held if no user may hold it, and not if a user has to.
    return kind === 'never' || kind === 'at_most'
      ? isShown || holdsOn(inNamespaces.somewhere, object)
      : isShown && holdsOn(inNamespaces.everywhere, object);
  };
  if (objectId !== undefined) return isHeld(`${type}:${objectId}`);
  for (const object of await copy.samplesFor(one, type, yieldIfDue)) {
    if (isHeld(object)) return true;
    await yieldIfDue();
  }
  return false;
}

async function select(
  classes: Iterable<PeopleClass>,
  isWanted: (one: PeopleClass) => Promise<boolean>,
  yieldIfDue: Yielder,
): Promise<PeopleClass[]> {
  const found: PeopleClass[] = [];
  for (const one of classes) {
    if (await isWanted(one)) found.push(one);
    await yieldIfDue();
  }
  return found;
}

/** A statement about an object that is gone says nothing. One about a team or a user that is gone is about no user. */
function isVacuous(copy: OrganizationCopy, { objectType, objectId }: GuardrailRule): boolean {
  return objectId !== undefined && !copy.objects.has(`${objectType}:${objectId}`);
}

async function violationOf(
  copy: OrganizationCopy,
  rule: GuardrailRule,
  yieldIfDue: Yielder,
): Promise<Violation | undefined> {
  const { kind, count = 0 } = rule;
  if (kind === 'at_least' || kind === 'at_most') {
    const holding = await select(copy.people.all, (one) => holds(copy, one, rule, yieldIfDue), yieldIfDue);
    const held = holding.reduce((sum, { users }) => sum + users.size, 0);
    if (kind === 'at_least') return held < count ? { userIds: [], total: 0, held } : undefined;
    return held > count ? { ...(await listed(usersOf(holding), yieldIfDue)), held } : undefined;
  }
  const isViolation = async (one: PeopleClass) => (await holds(copy, one, rule, yieldIfDue)) === (kind === 'never');
  const found = new Set(usersOf(await select(membersOf(copy, rule.teamId), isViolation, yieldIfDue)));
  for (const id of rule.userIds) {
    const user = subjectOfPrincipal(id);
    if (await isViolation(copy.people.classOf(user))) found.add(user);
    await yieldIfDue();
  }
  return found.size > 0 ? { ...(await listed([...found], yieldIfDue)), held: undefined } : undefined;
}

function membersOf(copy: OrganizationCopy, teamId: bigint | undefined): PeopleClass[] {
  return teamId === undefined ? [] : [...copy.people.all.filter(({ teamIds }) => teamIds.includes(teamId))];
}

function usersOf(classes: readonly PeopleClass[]): string[] {
  return classes.flatMap(({ users }) => [...users]);
}

/** How many they are, and the first of them. Fifty thousand numbers take long to sort, so only the first are kept. */
export async function listed(
  users: readonly string[],
  yieldIfDue: Yielder,
): Promise<Pick<Violation, 'userIds' | 'total'>> {
  let first: bigint[] = [];
  for (const user of users) {
    first.push(principalOfSubject(user));
    if (first.length < 2 * MAX_VIOLATORS) continue;
    first = firstOf(first);
    await yieldIfDue();
  }
  return { userIds: firstOf(first), total: users.length };
}

function firstOf(ids: readonly bigint[]): bigint[] {
  return ids.toSorted(byPrincipal).slice(0, MAX_VIOLATORS);
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
