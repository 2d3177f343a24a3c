import type { Judge } from '../judge.ts';
import type { NoteUse } from './access-uses.ts';

/**
 * The same judge for what requests need: each relation that is held counts as used. What is asked for many objects, to
 * decide what a list shows, does not.
 */
export function createNotingJudge(judge: Judge, note: NoteUse): Judge {
  const { atHand } = judge;
  return {
    allowed: judge.allowed,
    objects: judge.objects,
    ...(atHand && {
      atHand: {
        allowed: atHand.allowed,
        holds(personId, accountId, relation, object) {
          const isHeld = atHand.holds(personId, accountId, relation, object);
          if (isHeld === true) note(personId, accountId, relation, object.type, object.id);
          return isHeld;
        },
      },
    }),
    async holds(personId, accountId, relation, object) {
      const isHeld = await judge.holds(personId, accountId, relation, object);
      if (isHeld) note(personId, accountId, relation, object.type, object.id);
      return isHeld;
    },
  };
}
