import type { Judge } from '../authz/judge.ts';
import type { ObjectRef } from '../authz/object-ref.ts';
import { missingRelation } from '../base/errors.ts';
import type { PlannedChange } from '../impact/changes/planned-change.ts';
import { settle } from '../organizations/members.ts';
import type { ItemKind, ReviewItem } from './review.ts';

/** What ending the access of an item needs, and how it is done: as by the calls of the nouns themselves. */
export function createReviewEndings(judge: Pick<Judge, 'holds'>) {
  return { requireRight };

  /** Rejects a caller who could not end it without the review. */
  async function requireRight(
    organizationId: bigint,
    callerId: bigint,
    { kind, targetId, principal }: Pick<ReviewItem, 'kind' | 'targetId' | 'principal'>,
  ): Promise<void> {
    const organization: ObjectRef = { type: 'organization', id: organizationId };
    const holds = (relation: string, object = organization) => judge.holds(callerId, organizationId, relation, object);
    if (kind === 'assignment') {
      if (!(await holds('assigner'))) throw missingRelation('assign_roles:org');
    } else if (kind === 'membership') {
      const team: ObjectRef = { type: 'team', id: targetId };
      if (await holds('can_remove_member', team)) return;
      // A caller who adds members removes them, too, except the last owner.
      if (await holds('can_add_member', team)) settle('last owner', '');
      throw missingRelation('remove_member:team');
    } else {
      const robot: ObjectRef = { type: 'robot_ac', id: principal.id };
      if (!(await holds('can_view', robot))) throw missingRelation('view:robot_ac');
      if (!(await holds('can_delete_tokens'))) throw missingRelation('delete_tokens:org');
    }
  }
}

type ChangeOf = Readonly<Record<ItemKind, (item: ReviewItem) => PlannedChange | undefined>>;

/** The same as a change that can be previewed. A token changes nothing about what its robot holds. */
const PLANNED: ChangeOf = {
  membership: ({ targetId, principal }) => ({
    action: 'team.remove_member',
    id: targetId,
    username: principal.name,
  }),
  assignment: ({ targetId }) => ({ action: 'assignment.delete', id: targetId }),
  token: () => undefined,
};

export function plannedEnding(item: ReviewItem): PlannedChange | undefined {
  return PLANNED[item.kind](item);
}
