import { HIDDEN } from '../authz/explain/hidden-objects.ts';
import { AppError, type ViolatedGuardrail } from '../base/errors.ts';
import { subjectOfPrincipal } from '../changes/principal.ts';
import type { OrganizationCopy } from '../simulation/organization-copy.ts';
import { type Guardrail, namedIn, type Violation, type Violations } from './guardrail.ts';
import { guardrailSentence, violationText } from './guardrail-text.ts';
import { isWorse } from './violations.ts';

/** What a change does to a guardrail: it violates it, or makes an earlier violation worse. */
export interface NewViolation {
  readonly rule: Guardrail;
  readonly violation: Violation;
  /** What did not hold before the change. */
  readonly earlier: Violation | undefined;
}

/** The same for a caller who may not see everything. */
export interface ToldViolation extends ViolatedGuardrail {
  readonly enforce: boolean;
  /** Who or what is wrong: "eve and bob would violate it". */
  readonly text: string;
}

export type Sees = (object: string) => boolean;

const MAX_NAMED = 20;

/** In the order of the rules. */
export function newViolations(rules: readonly Guardrail[], before: Violations, found: Violations): NewViolation[] {
  return rules.flatMap((rule) => {
    const violation = found.get(rule.id);
    const earlier = before.get(rule.id);
    return violation && isWorse(rule, earlier, violation) ? [{ rule, violation, earlier }] : [];
  });
}

/** A deleted user or robot cannot violate an `always` rule: the statement says less now. */
export async function ignoreDeletedUsers(
  rules: readonly Guardrail[],
  found: Map<bigint, Violation>,
  livingOf: (userIds: readonly bigint[]) => Promise<readonly bigint[]>,
): Promise<Map<bigint, Violation>> {
  const doubtful = rules.filter(({ id, kind, userIds }) => kind === 'always' && userIds.length > 0 && found.has(id));
  if (doubtful.length === 0) return found;
  const living = new Set(await livingOf([...new Set(doubtful.flatMap(({ userIds }) => userIds))]));
  for (const { id, userIds } of doubtful) {
    const violation = found.get(id);
    const isDead = (user: bigint) => userIds.includes(user) && !living.has(user);
    const alive = violation?.userIds.filter((user) => !isDead(user)) ?? [];
    const dead = (violation?.userIds.length ?? 0) - alive.length;
    if (!violation || dead === 0) continue;
    if (alive.length === 0) found.delete(id);
    else found.set(id, { ...violation, userIds: alive, total: violation.total - dead });
  }
  return found;
}

/** Names the guardrail, and whom it is about as far as the caller may know them. */
export async function toldOf(
  { rule, violation, earlier }: NewViolation,
  sees: Sees,
  namesOf: (objects: readonly string[]) => Promise<ReadonlyMap<string, string>>,
): Promise<ToldViolation> {
  const anew = violation.userIds.filter((id) => !earlier?.userIds.includes(id));
  const shown = anew.filter((id) => sees(subjectOfPrincipal(id))).slice(0, MAX_NAMED);
  const names = await namesOf([...namedIn(rule), ...shown.map(subjectOfPrincipal)]);
  const nameOf = (object: string) => (sees(object) ? (names.get(object) ?? rule.names[object] ?? object) : HIDDEN);
  const violatedBy = shown.map((id) => ({ id, name: names.get(subjectOfPrincipal(id)) ?? '' }));
  const total = violation.total - (violation.userIds.length - anew.length);
  const known = violatedBy.map(({ name }) => name);
  return {
    id: rule.id,
    name: rule.name,
    sentence: guardrailSentence(rule, nameOf),
    violatedBy,
    total,
    enforce: rule.enforce,
    text: violationText(rule, { ...violation, total }, known),
  };
}

export function rejectionOf({ id, name, sentence, violatedBy, total, text }: ToldViolation): AppError {
  return new AppError('conflict', `guardrail ${JSON.stringify(name)} says that ${sentence}: ${text}`, {
    reason: 'guardrail_violated',
    guardrail: { id, name, sentence, violatedBy, total },
  });
}

/** What the caller may see, in the organization as it would be. Users cannot give themselves more than they hold. */
export function viewOf(
  { people, answers }: OrganizationCopy,
  organizationId: bigint,
  actorId: bigint | undefined,
): Sees {
  const subject = actorId === undefined ? '' : subjectOfPrincipal(actorId);
  const caller = people.classOf(subject);
  const holds = (relation: string, object: string) => answers.relationsOn(caller, object).includes(relation);
  return (object) => {
    if (object === subject) return true;
    return object.startsWith('user:')
      ? holds('can_view_members', `organization:${organizationId}`)
      : holds('can_view', object);
  };
}
