import { AppError } from '../base/errors.ts';
import { OBJECT_TYPES } from '../changes/object-kinds.ts';
import { principalOfRobot } from '../changes/principal.ts';
import type { Model } from '../rebac/model.ts';
import { heldBy } from './escalation.ts';
import type { Judge } from './judge.ts';

export type RobotEscalationGuard = ReturnType<typeof createRobotEscalationGuard>;

const TYPES = OBJECT_TYPES.filter((type) => type !== 'organization' && type !== 'user');

/**
 * A token of a robot can do what the robot can, so handing one out is giving that. Whoever creates or rotates one must
 * hold everything that the robot holds, on each object: on the organization, and on everything in it. What the robot
 * holds comes from the engine, so it makes no difference how the robot got it.
 */
export function createRobotEscalationGuard(judge: Pick<Judge, 'allowed' | 'objects'>, model: Model) {
  return async function rejectEscalation(callerId: bigint, organizationId: bigint, robotId: bigint): Promise<void> {
    const robot = principalOfRobot(robotId);
    if (robot === callerId) return;
    const held = await heldBy(judge, callerId, organizationId);
    const onOrganization = await heldBy(judge, robot, organizationId);
    const missing = [...onOrganization].filter((relation) => !held.has(relation));
    for (const type of TYPES) {
      for (const relation of shownRelations(type)) {
        const theirs = await judge.objects(robot, organizationId, relation, type);
        if (theirs.length === 0) continue;
        const own = new Set(await judge.objects(callerId, organizationId, relation, type));
        // Which object it is may be hidden from the caller.
        if (theirs.some((id) => !own.has(id))) missing.push(`${relation} of a ${type}`);
      }
    }
    if (missing.length === 0) return;
    const message = `this robot holds what you do not hold yourself: ${missing.join(', ')}`;
    throw new AppError('forbidden', message, { reason: 'escalation' });
  };

  function shownRelations(type: string): string[] {
    const { relations = [] } = model.typeIndex.get(type) ?? {};
    return relations.map(({ name }) => name).filter((name) => name.startsWith('can_'));
  }
}
