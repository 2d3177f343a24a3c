/**
 * Teams of an organization, as its identity provider manages them. All teams are shown, also the built-in ones: a
 * provider can decide who is an owner. A team that it creates gives nothing but membership, until an owner assigns roles
 * to it.
 */
import { AppError } from '../base/errors.ts';
import type { Actor } from '../changes/audit-entry.ts';
import type { GroupMember, InTransaction, Provisioning, ScimGroup, ScimGroupStore } from './provisioning.ts';
import { MAX_MEMBERS, rejected } from './scim-document.ts';
import type { Tenant } from './scim-users.ts';

/** What becomes of the members, in one step: the IDs of people. */
export interface MemberStep {
  readonly op: 'add' | 'remove' | 'replace';
  readonly ids: readonly bigint[];
}

/** Fields that are left out stay as they are. */
export interface GroupRequest {
  readonly displayName?: string | undefined;
  readonly externalId?: string | null | undefined;
  readonly steps: readonly MemberStep[];
}

/** A group, and all its members. */
export interface WholeGroup extends ScimGroup {
  readonly members: readonly GroupMember[];
}

type Precondition = (current: WholeGroup) => void;
export type ScimGroups = ReturnType<typeof createScimGroups>;

/** A few at a time: other requests wait for the only connection of the built-in database. */
const MEMBERS_AT_ONCE = 2000;
const unconditionally = () => undefined;

export function createScimGroups(store: ScimGroupStore, inTransaction: InTransaction) {
  return { list: store.list, sizes: store.sizes, whole, get, create, update, remove };

  async function get(organization: Tenant, id: bigint): Promise<WholeGroup> {
    return await whole(organization, (await store.find(organization.id, id)) ?? missing(id));
  }

  async function whole(organization: Tenant, group: ScimGroup): Promise<WholeGroup> {
    return { ...group, members: await membersOf(store, organization, group.id) };
  }

  async function create(
    organization: Tenant,
    { displayName = '', externalId = null, steps }: GroupRequest,
    actor: Actor,
  ): Promise<WholeGroup> {
    return await inTransaction(async (inside) => {
      const draft = { organizationId: organization.id, name: displayName, permission: 'none' } as const;
      const { id } = await inside.teams.create(draft, actor);
      const group = (await inside.groups.find(organization.id, id)) ?? missing(id);
      if (externalId !== null) await inside.groups.setExternalId(group, organization.id, externalId, actor);
      const members = await changeMembers(inside, organization, { ...group, members: [] }, steps, actor);
      return await again(inside, organization, id, members);
    });
  }

  async function update(
    organization: Tenant,
    id: bigint,
    { displayName, externalId, steps }: GroupRequest,
    precondition: Precondition,
    actor: Actor,
  ): Promise<WholeGroup> {
    return await inTransaction(async (inside) => {
      await inside.groups.turn(id);
      const before = await wholeIn(inside, organization, id);
      precondition(before);
      if (displayName !== undefined && displayName !== before.displayName) {
        await inside.teams.update(organization.id, id, { name: displayName }, unconditionally, actor);
      }
      if (externalId !== undefined && externalId !== before.externalId) {
        await inside.groups.setExternalId(before, organization.id, externalId, actor);
      }
      const members = await changeMembers(inside, organization, before, steps, actor);
      return await again(inside, organization, id, members);
    });
  }

  async function remove(organization: Tenant, id: bigint, precondition: Precondition, actor: Actor): Promise<void> {
    await inTransaction(async (inside) => {
      await inside.groups.turn(id);
      precondition(await wholeIn(inside, organization, id));
      await inside.teams.remove(id, unconditionally, actor);
    });
  }
}

async function wholeIn({ groups }: Provisioning, organization: Tenant, id: bigint): Promise<WholeGroup> {
  const group = (await groups.find(organization.id, id)) ?? missing(id);
  return { ...group, members: await membersOf(groups, organization, id) };
}

async function again({ groups }: Provisioning, organization: Tenant, id: bigint, members: readonly GroupMember[]) {
  return { ...((await groups.find(organization.id, id)) ?? missing(id)), members };
}

async function membersOf(store: Pick<ScimGroupStore, 'members'>, { id: organizationId }: Tenant, id: bigint) {
  const members: GroupMember[] = [];
  for (;;) {
    const some = await store.members(organizationId, id, members.at(-1)?.id ?? 0n, MEMBERS_AT_ONCE);
    members.push(...some);
    if (some.length < MEMBERS_AT_ONCE) return members;
  }
}

async function changeMembers(
  inside: Provisioning,
  organization: Tenant,
  { id, members }: WholeGroup,
  steps: readonly MemberStep[],
  actor: Actor,
): Promise<readonly GroupMember[]> {
  const present = new Set(members.map((member) => member.id));
  const wanted = afterSteps(present, steps);
  const [joining, leaving] = [wanted.difference(present), present.difference(wanted)];
  if (joining.size + leaving.size === 0) return members;
  if (joining.size + leaving.size > MAX_MEMBERS) {
    throw rejected(`a request can add and remove at most ${MAX_MEMBERS} members`, 'tooMany');
  }
  const found = await inside.groups.joiners(organization.id, [...joining, ...leaving]);
  const people = new Map(found.map((person) => [person.id, person]));
  for (const one of joining) {
    if (!people.has(one)) throw rejected(`members: there is no user ${one} in the organization`);
  }
  // First those who join, so that the last owner can be replaced.
  for (const { id: one, login, isSuspended } of found.filter((person) => joining.has(person.id))) {
    if (isSuspended) await inside.groups.suspend(id, one);
    else await inside.members.addToTeam(organization.id, id, login, actor);
  }
  for (const { id: one, login } of found.filter((person) => leaving.has(person.id))) {
    if (!(await inside.groups.unsuspend(id, one))) await inside.members.removeFromTeam(id, login, actor);
  }
  const joined = found
    .filter((person) => joining.has(person.id))
    .map(({ id: one, userName }) => ({ id: one, userName }));
  const stayed = members.filter((member) => !leaving.has(member.id));
  return [...stayed, ...joined].sort((one, other) => (one.id < other.id ? -1 : 1));
}

function afterSteps(present: ReadonlySet<bigint>, steps: readonly MemberStep[]): Set<bigint> {
  let wanted = new Set(present);
  for (const { op, ids } of steps) {
    if (op === 'replace') wanted = new Set(ids);
    else for (const id of ids) op === 'add' ? wanted.add(id) : wanted.delete(id);
  }
  return wanted;
}

function missing(id: bigint): never {
  throw new AppError('notFound', `there is no group ${id}`, { reason: 'team_not_found' });
}
