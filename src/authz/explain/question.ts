import type { Graph } from '../../../packages/rebac/src/rebac.ts';
import { AppError } from '../../base/errors.ts';
import type { AskedPrincipalStore } from '../asked-principal.ts';
import type { Graphs } from '../graphs.ts';
import type { ObjectRef } from '../object-ref.ts';
import { rejectOtherPeople } from '../objects.ts';
import { type Viewpoint, type ViewpointQuery, viewpointOf } from '../viewpoint.ts';

/** The names of objects such as `team:4`. */
export type Names = ReadonlyMap<string, string>;

export interface ExplainStore extends AskedPrincipalStore {
  names(objects: readonly string[]): Promise<Names>;
  /** Which of these users are deactivated. */
  inactive(ids: readonly bigint[]): Promise<ReadonlySet<bigint>>;
}

export interface Question extends ViewpointQuery {
  readonly relation: string;
}

/** Asks with the eyes of the caller, at one moment. */
export type AskSeen = <T>(question: Question, ask: (viewpoint: Viewpoint) => T) => Promise<T>;

export function createAskSeen(graphs: Pick<Graphs, 'together'>): AskSeen {
  return async function askSeen(question, ask) {
    const { organizationId, callerId, object, relation } = question;
    rejectOtherPeople(callerId, [object]);
    return await graphs.together(organizationId, callerId, (organization, own, now) => {
      requireRelationOf(organization, object, relation);
      return ask(viewpointOf(question, organization, own, now));
    });
  };
}

/** Structural relations are internal: callers can ask only about relations that are shown. */
export function requireRelationOf({ model }: Pick<Graph, 'model'>, object: ObjectRef, relation: string): void {
  const isKnown = model.typeIndex.get(object.type)?.relationIndex.has(relation);
  if (isKnown && relation.startsWith('can_')) return;
  throw new AppError('invalid', `${object.type} has no relation ${JSON.stringify(relation.slice(0, 60))}`, {
    reason: 'unknown_relation',
  });
}
