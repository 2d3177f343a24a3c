import { createAssignmentStore } from '../assignments/assignments.store.ts';
import type { Quotas } from '../changes/quotas.store.ts';
import type { Write } from '../changes/write.ts';
import type { Db } from '../db/db.ts';
import { createTokenIssuerStore } from '../identity/tokens/token-issuer.store.ts';
import { leaveTeam } from '../organizations/members.store.ts';
import { settle } from '../organizations/members.ts';
import type { EndInside } from './review.ts';

/** Ends the access of an item with the statements of its noun, inside the transaction that decides about the item. */
export function createEndedAccess(db: Db, quotas: Quotas): EndInside {
  return async ({ query, touch, record }, { kind, targetId, principal }, actor, organizationId) => {
    const write: Write = (work) => work(query, touch, record, () => undefined);
    if (kind === 'membership') {
      const change = { teamId: targetId, accountId: principal.id, condition: () => undefined, actor };
      const outcome = await leaveTeam({ query, touch, record }, change);
      if (outcome === 'last owner') settle(outcome, '');
      return outcome === 'removed' ? 'ended' : 'gone';
    }
    const isDone =
      kind === 'assignment'
        ? await createAssignmentStore({ ...db, query }, write, quotas).remove(
            { organizationId, actor },
            targetId,
            () => undefined,
          )
        : await createTokenIssuerStore(write, quotas).remove(targetId, actor);
    return isDone ? 'ended' : 'gone';
  };
}
