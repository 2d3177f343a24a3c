import { AppError } from '../../base/errors.ts';
import type { Features } from '../../features.ts';
import type { DemoWorld } from './world.ts';

const EVERY_MS = 30_000;
const ACTOR = { id: 0n, name: 'demo agent', requestId: 'demo' };

/** Replaces the agents that run in real clusters: the clusters of the demo report that they are active. */
export async function startAgents(
  { heartbeats }: Pick<Features, 'heartbeats'>,
  { clusters, orgs, users }: Pick<DemoWorld, 'clusters' | 'orgs' | 'users'>,
  onError: (error: unknown) => void,
): Promise<void> {
  const places = Object.values(clusters).map(({ id, org = '', owner = '' }) => ({
    id: BigInt(id),
    ownerId: BigInt(orgs[org]?.id ?? users[owner]?.id ?? 0n),
  }));
  await report();
  setInterval(() => void report(), EVERY_MS).unref();

  async function report(): Promise<void> {
    for (const { id, ownerId } of places) {
      try {
        await heartbeats.take(ownerId, id, { phase: 'Active' }, new Date(), ACTOR);
      } catch (error) {
        // A user of the demo may have deleted the cluster.
        if (!(error instanceof AppError && error.kind === 'notFound')) onError(error);
      }
    }
  }
}
