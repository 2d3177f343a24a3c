import { createYielder } from '../base/scheduling/slices.ts';
import type { MaybeLimits } from '../identity/tokens/token-limits.ts';
import type { Judge } from './judge.ts';

export interface VisibleCluster {
  readonly id: bigint;
  /** The user or organization that owns it. */
  readonly ownerId: bigint;
  /** What the user may do with it, in the order of the model. */
  readonly relations: readonly string[];
}

export interface Viewer {
  readonly id: bigint;
  /** The organizations that the user is in. */
  readonly organizations: Pick<ReadonlyMap<bigint, unknown>, 'keys'>;
}

export type VisibleClusters = ReturnType<typeof createVisibleClusters>;

const AT_ONCE = 8;
const OBJECTS_IN_SLICE = 200;
const VIEW = 'can_view';

/**
 * Which clusters a user may view, in all their organizations and among those they own: the judge's own answer. There
 * can be tens of thousands, so other requests are served in between. Each answer is exact as of a moment after the
 * call.
 */
export function createVisibleClusters(judge: Pick<Judge, 'objects' | 'allowed' | 'holds'>) {
  return { clusters, visibleTo, visibleIn };

  /** By ID, of the user and of the organizations that the user is in. The user must come from this request. */
  async function clusters(person: Viewer): Promise<VisibleCluster[]> {
    const yieldIfDue = createYielder();
    const found: VisibleCluster[] = [];
    for (const ownerId of [person.id, ...person.organizations.keys()]) {
      const ids = await visibleIn(person, ownerId);
      for (let first = 0; first < ids.length; first += OBJECTS_IN_SLICE) {
        const some = ids.slice(first, first + OBJECTS_IN_SLICE).map((id) => ({ type: 'cluster', id }) as const);
        const held = await judge.allowed(person.id, ownerId, some);
        for (const [place, { id }] of some.entries()) {
          const relations = held[place] ?? [];
          if (relations.includes(VIEW)) found.push({ id, ownerId, relations });
        }
        await yieldIfDue();
      }
      await yieldIfDue();
    }
    return found.sort((a, b) => (a.id < b.id ? -1 : 1));
  }

  /** The IDs of those that one account owns. */
  async function visibleIn(person: Pick<Viewer, 'id'>, ownerId: bigint): Promise<bigint[]> {
    return await judge.objects(person.id, ownerId, VIEW, 'cluster');
  }

  /** Only the IDs. */
  async function visibleTo(person: Viewer, limits?: MaybeLimits): Promise<bigint[]> {
    const organizations = person.organizations.keys();
    const accounts = limits ? [...organizations] : [person.id, ...organizations];
    const yieldIfDue = createYielder();
    const found = new Set<bigint>();
    // A few at a time: loading graphs that are not known yet mostly waits for the database.
    for (let at = 0; at < accounts.length; at += AT_ONCE) {
      const some = accounts.slice(at, at + AT_ONCE).map((ownerId) => visibleIn(person, ownerId));
      for (const ids of await Promise.all(some)) {
        for (const id of ids) found.add(id);
        await yieldIfDue();
      }
    }
    for (const { id, ownerId } of limits?.objects.filter(({ type }) => type === 'cluster') ?? []) {
      if (await judge.holds(person.id, ownerId, VIEW, { type: 'cluster', id })) found.add(id);
    }
    return [...found];
  }
}
