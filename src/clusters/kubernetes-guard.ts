import type { Judge } from '../authz/judge.ts';
import { AppError, missingRelation } from '../base/errors.ts';
import type { Actor } from '../changes/audit-entry.ts';
import type { KubernetesAccess } from './kubernetes-access.ts';

export type KubernetesGuard = ReturnType<typeof createKubernetesGuard>;

interface Governed extends KubernetesAccess {
  readonly endpoint: string;
}

/** Whether a change concerns where kubectl sends tokens, or whom Kubernetes asks. */
export function changesAccess(before: Governed, after: Governed): boolean {
  const isReached = before.caBundle !== '' || before.kubernetes.auth !== 'none';
  const isMoved = isReached && before.endpoint !== after.endpoint;
  return (
    isMoved ||
    before.caBundle !== after.caBundle ||
    JSON.stringify(before.kubernetes) !== JSON.stringify(after.kubernetes)
  );
}

/**
 * A user who decides whom Kubernetes asks, and where kubectl sends tokens, could as well do everything in the cluster.
 */
export function createKubernetesGuard(judge: Pick<Judge, 'holds'>) {
  /** @param clusterId undefined if it is imported */
  return async (
    actor: Actor,
    owner: { readonly id: bigint; readonly isOrganization: boolean },
    clusterId: bigint | undefined,
    { kubernetes }: KubernetesAccess,
  ): Promise<void> => {
    const { id: ownerId, isOrganization } = owner;
    const why = ': it decides who can do what in the cluster';
    if (clusterId !== undefined) {
      const cluster = { type: 'cluster', id: clusterId } as const;
      if (!(await judge.holds(actor.id, ownerId, 'can_administer', cluster))) {
        throw missingRelation('can_administer', why, { ownerId, ...cluster });
      }
    } else if (isOrganization) {
      const organization = { type: 'organization', id: ownerId } as const;
      if (!(await judge.holds(actor.id, ownerId, 'can_administer_clusters', organization))) {
        throw missingRelation('can_administer_clusters', why);
      }
    }
    if (!isOrganization && kubernetes.auth !== 'none') throw authOff('clusters of users have no robots that could ask');
  };
}

export function authOff(why: string): AppError {
  return new AppError('conflict', `Kubernetes does not ask about this cluster: ${why}`, {
    reason: 'kubernetes_auth_off',
  });
}
