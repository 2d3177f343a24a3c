import type { Model } from '../../packages/rebac/src/rebac.ts';
import { doing } from '../authz/explain/explanation-text.ts';
import { isNamespace, NOT_A_NAMESPACE, ONLY_CLUSTERS } from '../authz/places/namespaces.ts';
import { AppError, invalidField } from '../base/errors.ts';
import { OBJECT_TYPES } from '../changes/object-kinds.ts';
import { GUARDED_TYPES, type GuardedType } from '../guardrails/guardrail.ts';
import type { References } from '../guardrails/guardrail-input.ts';
import { MAX_DAYS } from '../unused/unused.ts';
import type { Named, ReviewQuestion } from './review.ts';

interface Reference {
  readonly id?: bigint | undefined;
  readonly name?: string | undefined;
}

/** A question as a caller sends it. */
export interface QuestionInput {
  readonly kind: ReviewQuestion['kind'];
  readonly relation?: string | undefined;
  readonly object?: (Reference & { readonly type: string }) | undefined;
  readonly namespace?: string | undefined;
  readonly team?: Reference | undefined;
  readonly days?: number | undefined;
}

/** Finds what a question names; throws if it is not valid. */
export async function readQuestion(
  references: Pick<References, 'teams' | 'objects'>,
  model: Model,
  organization: Named,
  input: QuestionInput,
): Promise<ReviewQuestion> {
  const { kind } = input;
  if (kind === 'robot_tokens' || kind === 'unused') return { kind, days: readDays(input.days) };
  if (kind === 'team') {
    const which = input.team?.id ?? input.team?.name;
    if (which === undefined) throw invalidField('question.team', 'question.team must have an id or a name');
    const [team] = await references.teams(organization.id, which);
    if (!team) throw new AppError('notFound', 'team does not exist', { reason: 'team_not_found' });
    return { kind, team };
  }
  const { type, ...reference } = input.object ?? { type: 'organization' };
  const known = OBJECT_TYPES.find((one) => one === type && (GUARDED_TYPES as readonly string[]).includes(one));
  if (!known || known === 'token') throw invalidField('question.object', 'question.object has an unknown type');
  const relation = readRelation(model, known, input.relation);
  const { namespace } = input;
  requireNamespace(known, namespace);
  if (known === 'organization') return { kind, relation, object: { type: known, ...organization } };
  const which = reference.id ?? reference.name;
  if (which === undefined) throw invalidField('question.object', 'question.object must have an id or a name');
  const [object, another] = await references.objects(organization.id, known as GuardedType, which);
  if (!object) throw new AppError('notFound', `${known} does not exist`, { reason: 'not_found' });
  if (another) throw invalidField('question.object', 'several objects have this name: give the ID');
  return { kind, relation, object: { type: known, ...object }, ...(namespace !== undefined && { namespace }) };
}

function requireNamespace(type: string, namespace: string | undefined): void {
  if (namespace === undefined) return;
  if (type !== 'cluster') throw invalidField('question.namespace', ONLY_CLUSTERS);
  if (!isNamespace(namespace)) throw invalidField('question.namespace', NOT_A_NAMESPACE);
}

/** As the API shows it, or without its prefix: `can_connect` or `connect`. */
function readRelation(model: Model, type: string, text = ''): string {
  const known = model.typeIndex.get(type)?.relationIndex;
  const relation = [text, `can_${text}`].find((one) => one.startsWith('can_') && known?.has(one));
  if (relation !== undefined) return relation;
  const message = `${type} has no relation ${JSON.stringify(text.slice(0, 60))}`;
  throw invalidField('question.relation', message, 'unknown_relation');
}

function readDays(days: number | undefined): number {
  if (days !== undefined && Number.isInteger(days) && days >= 1 && days <= MAX_DAYS) return days;
  throw invalidField('question.days', `question.days must be a whole number between 1 and ${MAX_DAYS}`);
}

/** "who can connect to prod" */
export function questionText(question: ReviewQuestion): string {
  switch (question.kind) {
    case 'access':
      return `who can ${doing(question.relation, question.object.name)}${inNamespace(question.namespace)}`;
    case 'team':
      return `what the team ${question.team.name} holds`;
    case 'robot_tokens':
      return `robots with tokens older than ${daysText(question.days)}`;
    case 'unused':
      return `access that was not used in ${daysText(question.days)}`;
  }
}

function inNamespace(namespace: string | undefined): string {
  return namespace === undefined ? '' : ` in the namespace ${namespace}`;
}

function daysText(days: number): string {
  return days === 1 ? '1 day' : `${days} days`;
}
