import type { Permission } from '../directory/callers.ts';
import type { RoleGrant } from '../directory/members.ts';
import { AppError } from '../errors.ts';

interface ObjectRef {
  readonly type: 'organization' | 'team';
  readonly id: bigint;
}

/** What is asked of the engine. */
export interface Judge {
  holds(personId: bigint, organizationId: bigint, relation: string, object: ObjectRef): Promise<boolean>;
  /** The relations `can_…` that a person holds on each of the objects. */
  allowed(personId: bigint, organizationId: bigint, objects: readonly ObjectRef[]): Promise<string[][]>;
}

/** What somebody gets with a team. */
export interface Grant {
  readonly permission: Permission;
  readonly roles: readonly RoleGrant[];
}

export interface Holdings {
  isOwner: boolean;
  /** Nobody gives away what they do not hold themselves. */
  refuseMore(grant: Grant): void;
}

export type HoldingsOf = ReturnType<typeof createHoldings>;

/** What the members of a team with a permission are to the organization, in the words of the model. */
const RELATION: Readonly<Record<Exclude<Permission, 'none'>, string>> = {
  read: 'viewer',
  write: 'editor',
  admin: 'admin',
  owner: 'owner',
};
const PERMISSIONS = Object.keys(RELATION) as (keyof typeof RELATION)[];

export function createHoldings(judge: Judge) {
  /** All that a person holds in an organization, as of the moment of the request. */
  return async function holdingsOf(personId: bigint, organizationId: bigint): Promise<Holdings> {
    const organization = { type: 'organization', id: organizationId } as const;
    const [relations = []] = await judge.allowed(personId, organizationId, [organization]);
    const held = new Set(relations);
    const permissions = new Set<Permission>(['none']);
    for (const permission of PERMISSIONS) {
      if (await judge.holds(personId, organizationId, RELATION[permission], organization)) permissions.add(permission);
    }
    return { isOwner: permissions.has('owner'), refuseMore };

    function refuseMore({ permission, roles }: Grant): void {
      const missing = roles.filter((role) => !held.has(role.relation)).map(wording);
      if (!permissions.has(permission)) missing.unshift(`permission "${permission}"`);
      if (missing.length === 0) return;
      throw new AppError('forbidden', `you cannot grant what you do not hold yourself: ${missing.join(', ')}`);
    }
  };
}

function wording({ namespace, action }: RoleGrant): string {
  return `${namespace} "${action}"`;
}

export function missingRelation(named: string): AppError {
  return new AppError('forbidden', `missing relation ${named}`);
}
