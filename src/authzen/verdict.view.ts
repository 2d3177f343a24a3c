import { reasonOf } from '../base/errors.ts';
import { STATUS } from '../http/error-format.ts';
import { timestamp } from '../http/wire/schemas.ts';
import type { AuthzenCaller } from './asked-things.ts';
import { AUTHZEN_PREFIX } from './authzen-error.view.ts';
import type { AskedQuestion, Verdict } from './evaluation.ts';
import type { SignedDenials } from './signed-denials.ts';

export type PresentVerdict = ReturnType<typeof createVerdictView>;

/** Decisions on the wire. A denial that can be asked about says how, as the access request profile wants it. */
export function createVerdictView(denials: SignedDenials, baseUrl: () => string) {
  return { single, item };

  /** What may not be asked at all is an error of the request. */
  function single(caller: AuthzenCaller, verdict: Verdict | undefined) {
    if (verdict?.fault?.kind === 'forbidden') throw verdict.fault;
    return item(caller, verdict ?? { decision: false });
  }

  function item(caller: AuthzenCaller, { decision, question, sentence, isRequestable, fault }: Verdict) {
    if (fault) {
      const error = { status: STATUS[fault.kind], message: fault.message, reason: reasonOf(fault) };
      return { decision, context: { error } };
    }
    const context = {
      ...(sentence !== undefined && { reason_user: sentence }),
      ...(isRequestable && question && requestOf(caller, question)),
    };
    return Object.keys(context).length === 0 ? { decision } : { decision, context };
  }

  function requestOf({ organization }: AuthzenCaller, question: AskedQuestion) {
    const now = new Date();
    const { id, expiresAt } = denials.make(organization.id, question, now);
    const { relation, object } = question;
    const query = `object=${object.type}:${object.id}&relation=${relation}`;
    return {
      evaluation_id: id,
      evaluated_at: timestamp(now),
      reason: 'approval_required',
      access_request: {
        endpoint: `${baseUrl()}${AUTHZEN_PREFIX}/${organization.name}/requests`,
        expires_at: timestamp(expiresAt),
        form_url: `${baseUrl()}/orgs/${organization.name}/requests/new?${query}`,
        display: { title: 'Ask for access', description: `Ask for ${relation} for a while.` },
      },
    };
  }
}
