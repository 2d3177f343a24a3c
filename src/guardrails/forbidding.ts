import { check, type Graph } from '../../packages/rebac/src/rebac.ts';
import type { Advice, RemedyQuestion } from '../authz/explain/remedy.ts';
import type { Graphs } from '../authz/graphs.ts';
import type { Judge } from '../authz/judge.ts';
import { subjectOfPrincipal } from '../changes/principal.ts';
import type { GuardrailRule } from './guardrail.ts';
import type { Guardrails } from './guardrails.ts';

/**
 * The guardrails that say in so many words that a user can never do this. Only users who may view roles see guardrails.
 */
export function createForbidding(
  guardrails: Pick<Guardrails, 'list'>,
  graphs: Pick<Graphs, 'of'>,
  judge: Pick<Judge, 'holds'>,
): Advice['forbidding'] {
  return async (question) => {
    const { organizationId, callerId } = question;
    const organization = { type: 'organization', id: organizationId } as const;
    if (!(await judge.holds(callerId, organizationId, 'can_view_roles', organization))) return [];
    const shown = await guardrails.list(organizationId, callerId);
    if (shown.length === 0) return [];
    const graph = await graphs.of(organizationId);
    return shown
      .filter(({ guardrail }) => guardrail.enforce && forbids(guardrail, question, graph))
      .map(({ guardrail: { id, name }, sentence }) => ({ id, name, sentence }));
  };
}

type Asked = Pick<RemedyQuestion, 'userId' | 'relation' | 'object'>;

function forbids(rule: GuardrailRule, { userId, relation, object }: Asked, graph: Graph): boolean {
  const { kind, userIds, teamId, objectType, objectId, count } = rule;
  const isAbout = objectType === object.type && (objectId === undefined || objectId === object.id);
  if (rule.relation !== relation || !isAbout) return false;
  if (kind === 'at_most') return count === 0;
  if (kind !== 'never') return false;
  if (userIds.includes(userId)) return true;
  return (
    teamId !== undefined &&
    check(graph, { user: subjectOfPrincipal(userId), relation: 'member', object: `team:${teamId}` })
  );
}
