import type { Member } from './member.ts';

type Asked = Pick<Member, 'ask'>;

/**
 * Rejects if a server of several workers is not ready, and says why. It becomes ready when all of them are. From then on,
 * a worker that takes the place of another one counts only once it has been ready: it warms up while the others are, and
 * on a busy machine that takes seconds.
 */
export function createJointReadiness(serving: () => readonly Asked[]): () => Promise<void> {
  const warm = new WeakSet<Asked>();
  let wasReady = false;
  return async () => {
    const faults = new Map<Asked, unknown>();
    const look = async (member: Asked): Promise<void> => {
      try {
        await member.ask('ready');
        warm.add(member);
      } catch (error) {
        faults.set(member, error);
      }
    };
    await Promise.all(serving().map(look));
    // One that has ended meanwhile serves nothing any more.
    const left = serving();
    if (left.length === 0) throw new Error('no worker serves');
    const counted =
      wasReady && left.some((member) => warm.has(member)) ? left.filter((member) => warm.has(member)) : left;
    const fault = counted.find((member) => faults.has(member));
    if (fault) throw faults.get(fault);
    wasReady = true;
  };
}
