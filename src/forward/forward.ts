import { isNamespace, NOT_A_NAMESPACE, ONLY_CLUSTERS } from '../authz/places/namespaces.ts';
import type { AuthzenCaller, Entity } from '../authzen/asked-things.ts';
import { type Evaluations, THE_CALLER } from '../authzen/evaluation.ts';
import { AppError } from '../base/errors.ts';
import { OBJECT_TYPES } from '../changes/object-kinds.ts';

export interface ForwardQuestion {
  readonly relation: string;
  /** Without ID, the organization of the question. */
  readonly object: { readonly type: string; readonly id: string | undefined };
  readonly namespace: string | undefined;
}

export type Forwarding = ReturnType<typeof createForwarding>;

/** Whether callers may do themselves what a proxy asks about. */
export function createForwarding(evaluations: Pick<Evaluations, 'evaluate' | 'relationOf'>) {
  return { decide };

  /** Why they may, in a sentence. Throws if they may not: the same for what is hidden and for what does not exist. */
  async function decide(caller: AuthzenCaller, { relation, object, namespace }: ForwardQuestion): Promise<string> {
    const wanted = evaluations.relationOf(object.type, relation);
    if (wanted === undefined) {
      const message = `${object.type} has no relation ${JSON.stringify(relation.slice(0, 60))}`;
      throw new AppError('invalid', message, { reason: 'unknown_relation' });
    }
    if (namespace !== undefined && object.type !== 'cluster') throw new AppError('invalid', ONLY_CLUSTERS);
    if (namespace !== undefined && !isNamespace(namespace)) throw new AppError('invalid', NOT_A_NAMESPACE);
    const resource: Entity = { type: object.type, id: object.id ?? String(caller.organization.id) };
    const item = { subject: THE_CALLER, action: relation, resource, namespace } as const;
    const [verdict] = await evaluations.evaluate(caller, [item], undefined);
    if (verdict?.decision) return verdict.sentence ?? `${caller.login} holds ${wanted}`;
    if (!verdict?.isSeen) throw new AppError('forbidden', 'you may not do this here');
    throw new AppError('forbidden', verdict.sentence ?? 'you may not do this here', {
      ...{ reason: 'missing_relation', relation: wanted },
      ...(verdict.isRequestable && { requestable: true }),
    });
  }
}

/** `cluster:1`, `cluster:prod`, or `organization`. */
export function readForwardObject(text: string): ForwardQuestion['object'] {
  const colon = text.indexOf(':');
  const [type, id] = colon < 0 ? [text, undefined] : [text.slice(0, colon), text.slice(colon + 1)];
  if (!OBJECT_TYPES.some((one) => one === type)) {
    throw new AppError('invalid', `invalid object type: ${JSON.stringify(type.slice(0, 40))}`);
  }
  if (id === '' || (id === undefined && type !== 'organization')) {
    throw new AppError('invalid', `object must name a ${type}, such as ${type}:1`);
  }
  return { type, id };
}
