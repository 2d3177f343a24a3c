import type { Requestable } from '../authz/explain/remedy.ts';
import type { AskedObject } from '../authz/object-ref.ts';
import { AppError } from '../base/errors.ts';
import type { Actor } from '../changes/audit-entry.ts';
import type { Once } from '../changes/write.ts';
import type { Asked, Asker, Asking } from '../requests/asking.ts';
import { secondsOf } from '../requests/request-term.ts';
import type { AskedThings, AuthzenCaller, Entity } from './asked-things.ts';
import type { Evaluations } from './evaluation.ts';
import type { SignedDenials } from './signed-denials.ts';

/** A request for access, as the profile sends it. */
export interface TaskInput {
  readonly subject: Entity;
  readonly action: string;
  readonly resource: Entity;
  readonly namespace: unknown;
  readonly justification: string | undefined;
  readonly until: Date | undefined;
  readonly isEmergency: boolean;
  readonly evaluationId: string | undefined;
}

export interface TaskCaller extends AuthzenCaller {
  readonly actor: Actor;
  readonly tokenId: bigint | undefined;
}

interface Parts {
  readonly things: Pick<AskedThings, 'subjectOf' | 'objectOf'>;
  readonly evaluations: Pick<Evaluations, 'relationOf'>;
  readonly denials: Pick<SignedDenials, 'read'>;
  readonly asking: Asking;
  readonly requestable: (question: {
    readonly organizationId: bigint;
    readonly callerId: bigint;
    readonly relation: string;
    readonly object: AskedObject;
  }) => Promise<Requestable | undefined>;
}

/** Without a wish, so long, unless less is allowed. */
const DEFAULT_SECONDS = 4 * 3600;

export type RequestTasks = ReturnType<typeof createRequestTasks>;

/** The access request profile: a thin layer over access requests. Users and robots ask for themselves. */
export function createRequestTasks({ things, evaluations, denials, asking, requestable }: Parts) {
  return { ask };

  async function ask(caller: TaskCaller, input: TaskInput, now: Date, once?: Once<Asked>): Promise<Asked> {
    const { organization } = caller;
    const subject = await things.subjectOf(caller, input.subject);
    if (subject?.id !== caller.id) {
      const message = 'access is requested by the user or robot who shall have it: show form_url to them';
      throw new AppError('forbidden', message, { reason: 'not_for_others' });
    }
    const object = await things.objectOf(caller, input.resource);
    const relation = evaluations.relationOf(input.resource.type, input.action);
    requireDenial(caller, input, object && relation ? `${relation} ${object.type}:${object.id}` : '', now);
    if (!object || relation === undefined) throw bindingFault();
    const namespaces = typeof input.namespace === 'string' ? [input.namespace] : undefined;
    const { id: organizationId } = organization;
    const asker: Asker = { ...caller, organizationId, organizationName: organization.name };
    const wish = { organizationId, callerId: caller.id, relation, object };
    return await asking.ask(
      asker,
      {
        ...{ relation, object: { type: object.type, id: object.id, name: undefined }, namespaces },
        ...{ reason: input.justification ?? '', remedy: undefined, isBreakGlass: input.isEmergency },
        ...(input.until ? { for: undefined, until: input.until } : { for: await usualTerm(wish), until: undefined }),
      },
      once,
    );
  }

  /** The denial must be of this caller and this question, and not too old. */
  function requireDenial(caller: TaskCaller, input: TaskInput, about: string, now: Date): void {
    const { evaluationId, namespace } = input;
    const denial = evaluationId === undefined ? undefined : denials.read(evaluationId, now);
    const isIt =
      denial?.organizationId === caller.organization.id &&
      denial.subjectId === caller.id &&
      `${denial.relation} ${denial.object}` === about &&
      denial.namespace === (namespace ?? null);
    if (!isIt) throw bindingFault();
    if (denial.hasEnded)
      throw new AppError('gone', 'the denial is too old: evaluate again', { reason: 'expired_denial' });
  }

  async function usualTerm(wish: Parameters<Parts['requestable']>[0]): Promise<string> {
    const longest = secondsOf((await requestable(wish))?.longest ?? '') ?? DEFAULT_SECONDS;
    return `PT${Math.min(longest, DEFAULT_SECONDS)}S`;
  }
}

function bindingFault(): AppError {
  const message = 'denial.evaluation_id must be that of a denial of the same subject, action and resource';
  return new AppError('invalid', message, { reason: 'invalid_denial_binding' });
}
