import { AppError } from '../base/errors.ts';
import { RELATION_OF } from '../changes/derived-tuples.ts';
import type { Permission } from '../identity/callers.ts';
import { permissionName } from './explain/permission-names.ts';
import type { Judge } from './judge.ts';

/** One permission that a role contains. */
export interface RoleGrant {
  readonly namespace: string;
  readonly action: string;
  readonly relation: string;
}

/** What a user gets with a team. */
export interface TeamGrant {
  readonly permission: Permission;
  /** What its roles give in the whole organization. */
  readonly roles: readonly RoleGrant[];
  /** Its assignments on single objects. */
  readonly assignmentIds?: readonly bigint[];
}

/** A team that a user is to join, and until when; null for ever. */
export interface Joining {
  readonly teamId: bigint;
  readonly until: Date | null;
}

/** What a user may not give of what a team has on single objects, in words, by assignment; empty for what they may. */
export type GivingOfTeam = (
  personId: bigint,
  organizationId: bigint,
  joining: Joining,
) => Promise<ReadonlyMap<bigint, readonly string[]>>;

export type EscalationGuard = ReturnType<typeof createEscalationGuard>;

const PERMISSIONS = Object.keys(RELATION_OF) as (keyof typeof RELATION_OF)[];

/** No caller can grant more than they hold. What a user holds is read once, at the moment of the request. */
export function createEscalationGuard(judge: Pick<Judge, 'holds' | 'allowed'>, givingOf: GivingOfTeam) {
  /** A user who joins a team also gets what it has on single objects, so these are read with `joining`. */
  return async function guard(personId: bigint, organizationId: bigint, joining?: Joining) {
    const organization = { type: 'organization', id: organizationId } as const;
    const held = await heldBy(judge, personId, organizationId);
    const permissions = new Set<Permission>(['none']);
    for (const permission of PERMISSIONS) {
      if (await judge.holds(personId, organizationId, RELATION_OF[permission], organization))
        permissions.add(permission);
    }
    const giving = joining && (await givingOf(personId, organizationId, joining));
    return {
      isOwner: permissions.has('owner'),
      rejectEscalation({ permission, roles, assignmentIds = [] }: TeamGrant): void {
        reject([
          ...(permissions.has(permission) ? [] : [`permission "${permission}"`]),
          ...notHeld(roles, held).map(describePermission),
          // One that was made at this moment has not been compared.
          ...new Set(assignmentIds.flatMap((id) => giving?.get(id) ?? [`assignment ${id}`])),
        ]);
      },
    };
  };
}

/** Every relation of the organization that the user holds, in one walk. */
export async function heldBy(
  judge: Pick<Judge, 'allowed'>,
  personId: bigint,
  organizationId: bigint,
): Promise<ReadonlySet<string>> {
  const [relations] = await judge.allowed(personId, organizationId, [{ type: 'organization', id: organizationId }]);
  return new Set(relations);
}

export function rejectEscalation(granted: readonly RoleGrant[], held: ReadonlySet<string>): void {
  reject(notHeld(granted, held).map(describePermission));
}

export function describePermission({ namespace, action }: Pick<RoleGrant, 'namespace' | 'action'>): string {
  return `${namespace} "${permissionName(action)}"`.slice(0, 200);
}

function notHeld(granted: readonly RoleGrant[], held: ReadonlySet<string>): RoleGrant[] {
  return granted.filter(({ relation }) => !held.has(relation));
}

function reject(missing: readonly string[]): void {
  if (missing.length === 0) return;
  throw new AppError('forbidden', `you cannot grant what you do not hold yourself: ${missing.join(', ')}`, {
    reason: 'escalation',
  });
}
