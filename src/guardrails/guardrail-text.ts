import { doing, type NameOf } from '../authz/explain/explanation-text.ts';
import { OBJECT_KINDS } from '../changes/object-kinds.ts';
import { isRobotPrincipal, subjectOfPrincipal } from '../changes/principal.ts';
import type { GuardrailRule, Violation } from './guardrail.ts';

/** The statement as a person would say it: "members of the team Contractors can never remove any cluster". */
export function guardrailSentence(rule: GuardrailRule, nameOf: NameOf): string {
  const { kind, userIds, teamId, relation, objectType, objectId, count = 0 } = rule;
  const action = doing(relation, objectId === undefined ? anyOf(objectType) : nameOf(`${objectType}:${objectId}`));
  if (kind === 'at_least') return `at least ${people(count)} can ${action}`;
  if (kind === 'at_most') return count === 0 ? `no user can ${action}` : `at most ${people(count)} can ${action}`;
  const subjects = [
    ...userIds.map((id) => `${isRobotPrincipal(id) ? 'the robot account ' : ''}${nameOf(subjectOfPrincipal(id))}`),
    ...(teamId === undefined ? [] : [`members of the team ${nameOf(`team:${teamId}`)}`]),
  ];
  return `${enumerated(subjects)} can ${kind} ${action}`;
}

/** Who or what is wrong: "eve and bob would violate it", "only 1 person would be left". */
export function violationText({ kind }: GuardrailRule, violation: Violation, known: readonly string[]): string {
  const { total, held = 0 } = violation;
  if (kind === 'at_least') return held === 0 ? 'no user would be left' : `only ${people(held)} would be left`;
  if (kind === 'at_most') return `${people(held)} would be able to`;
  const others = total - known.length;
  const rest = others > 0 ? [known.length > 0 ? `${others} more` : people(others)] : [];
  return `${enumerated([...known, ...rest])} would violate it`;
}

/** One object of a type, whichever it is. */
function anyOf(type: GuardrailRule['objectType']): string {
  return type === 'organization' ? 'the organization' : `any ${OBJECT_KINDS[type].title}`;
}

function people(count: number): string {
  return count === 1 ? '1 person' : `${count} people`;
}

function enumerated(parts: readonly string[]): string {
  return parts.length < 2 ? parts.join('') : `${parts.slice(0, -1).join(', ')} and ${parts.at(-1)}`;
}
