import { AppError } from '../errors.ts';
import type { Actor } from './audit.ts';
import type { Permission } from './callers.ts';

/** What somebody gets, or loses, with a team. */
export interface TeamGrant {
  readonly teamId: bigint;
  readonly organizationId: bigint;
  readonly name: string;
  readonly permission: Permission;
  /** What the team's roles hold. */
  readonly roles: readonly RoleGrant[];
}

export interface RoleGrant {
  readonly namespace: string;
  readonly action: string;
  readonly relation: string;
}

/** Throws when somebody may not give or take this. Asked while nobody else can change the team. */
export type GrantCondition = (grant: TeamGrant) => void;

export type Removal = 'removed' | 'not a member' | 'last owner';

export interface MemberStore {
  /** False when the team or the person is not there (any more). */
  add(teamId: bigint, accountId: bigint, require: GrantCondition, actor?: Actor): Promise<boolean>;
  remove(teamId: bigint, accountId: bigint, require: GrantCondition, actor?: Actor): Promise<Removal>;
  /** Out of all teams of the organization, or of none. */
  removeFromAll(organizationId: bigint, accountId: bigint, require: GrantCondition, actor: Actor): Promise<Removal>;
}

export type Members = ReturnType<typeof createMembers>;

const anything: GrantCondition = () => undefined;

/** Who is in which team. Being in one makes a member of the organization, and somebody always owns it. */
export function createMembers(store: MemberStore) {
  return { add, remove, removeFromAll };

  async function add(teamId: bigint, accountId: bigint, require = anything, actor?: Actor): Promise<void> {
    const isDone = await store.add(teamId, accountId, require, actor);
    if (!isDone) throw new AppError('notFound', 'team or user does not exist');
  }

  async function remove(teamId: bigint, accountId: bigint, require = anything, actor?: Actor): Promise<void> {
    settle(await store.remove(teamId, accountId, require, actor), 'user is not in this team');
  }

  async function removeFromAll(
    organizationId: bigint,
    accountId: bigint,
    require: GrantCondition,
    actor: Actor,
  ): Promise<void> {
    const outcome = await store.removeFromAll(organizationId, accountId, require, actor);
    settle(outcome, 'user is not a member of this organization');
  }
}

function settle(outcome: Removal, absence: string): void {
  if (outcome === 'not a member') throw new AppError('notFound', absence);
  if (outcome === 'last owner') throw new AppError('conflict', 'the last owner of an organization cannot leave');
}
