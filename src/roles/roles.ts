import { describePermission, heldBy, rejectEscalation } from '../authz/escalation.ts';
import type { Judge } from '../authz/judge.ts';
import type { Place } from '../authz/places/places.ts';
import { createSeesPlace } from '../authz/places/sees-place.ts';
import { type Limits, limitReached } from '../base/config/limits.ts';
import { AppError, invalidField } from '../base/errors.ts';
import { endsBefore } from '../base/expiry.ts';
import { readLineField } from '../base/fields.ts';
import type { Actor } from '../changes/audit-entry.ts';
import type { PrincipalType } from '../changes/object-kinds.ts';
import type { Once } from '../changes/write.ts';
import { type CatalogEntry, findPermission, inCatalogOrder, type PermissionPair } from './catalog.ts';

export interface Role {
  readonly id: bigint;
  readonly organizationId: bigint;
  readonly name: string;
  readonly description: string;
  readonly permissions: readonly CatalogEntry[];
  readonly teamIds: readonly bigint[];
  readonly teamExpiries?: TeamExpiries;
  readonly version: number;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** When assignments end, by team. Those of other teams do not end. */
export type TeamExpiries = ReadonlyMap<bigint, Date>;

export interface RoleDraft {
  readonly name: string;
  readonly description: string;
  readonly permissions: readonly CatalogEntry[];
  readonly teamIds: readonly bigint[];
  /** If they are left out, present assignments end as before, and new ones do not end. */
  readonly teamExpiries?: TeamExpiries;
}

/** What a caller sends; on update, a field that is left out stays as it is. */
export interface RoleInput {
  readonly name?: string | undefined;
  readonly description?: string | undefined;
  readonly permissions?: readonly PermissionPair[] | undefined;
  readonly teamIds?: readonly bigint[] | undefined;
  /** When the assignments to some of the teams end; null for never. Assignments to other teams end as before. */
  readonly terms?: ReadonlyMap<bigint, Date | null> | undefined;
}

export interface Principal {
  readonly type: PrincipalType;
  readonly id: bigint;
  readonly name: string;
  /** What the role is assigned on, unless it is the organization. */
  readonly on?: (Place & { readonly name: string }) | undefined;
  readonly assignedAt: Date;
  readonly expiresAt: Date | null;
}

export interface ShownPrincipal extends Principal {
  readonly isPlaceHidden: boolean;
}

export interface RoleStore {
  list(organizationId: bigint): Promise<Role[]>;
  get(organizationId: bigint, id: bigint): Promise<Role | undefined>;
  principals(organizationId: bigint, id: bigint): Promise<Principal[]>;
  create(
    organizationId: bigint,
    draft: RoleDraft,
    actor: Actor,
    once?: Once<Role>,
  ): Promise<Role | Rejection | undefined>;
  /** `decide` sees the role as it is while no other request can change it. */
  update(
    organizationId: bigint,
    id: bigint,
    decide: (current: Role) => RoleDraft,
    actor: Actor,
  ): Promise<Role | Rejection | undefined>;
  remove(organizationId: bigint, id: bigint, decide: (current: Role) => void, actor: Actor): Promise<boolean>;
}

export type Rejection =
  | { readonly rejected: 'name taken' }
  | { readonly rejected: 'unknown teams'; readonly teamIds: readonly bigint[] };

/** The caller, the organization, and the request that a change is made for. */
export interface Setting {
  readonly organizationId: bigint;
  readonly actor: Actor;
}

/** Throws if the role has changed since the caller last saw it. */
export type Precondition = (current: Role) => void;

export type RoleLimits = Pick<Limits, 'rolesPerOrganization' | 'teamsPerRole'>;

export type Roles = ReturnType<typeof createRoles>;

const MAX_NAME = 100;
const MAX_DESCRIPTION = 1000;
/** An error names at most this many of the things that are wrong. */
const MAX_NAMED = 20;

/** Custom roles: sets of permissions that are assigned to teams of an organization. */
export function createRoles(store: RoleStore, judge: Pick<Judge, 'allowed' | 'holds'>, limits: RoleLimits) {
  const seesPlace = createSeesPlace(judge);
  return { list: store.list, principals, get, create, update, remove };

  /** What the reader may not see has no ID and no name. */
  async function principals(organizationId: bigint, readerId: bigint, id: bigint): Promise<ShownPrincipal[]> {
    const found = await store.principals(organizationId, id);
    const shown: ShownPrincipal[] = [];
    for (const one of found) {
      const isSeen = one.on === undefined || (await seesPlace(readerId, organizationId, one.on));
      shown.push({ ...one, isPlaceHidden: !isSeen });
    }
    return shown;
  }

  async function get(organizationId: bigint, id: bigint): Promise<Role> {
    const role = await store.get(organizationId, id);
    if (!role) throw roleNotFound();
    return role;
  }

  async function create({ organizationId, actor }: Setting, input: RoleInput, once?: Once<Role>): Promise<Role> {
    const draft = draftOf(undefined, input);
    requireRoomForTeams(limits, draft);
    rejectEscalation(draft.permissions, await heldBy(judge, actor.id, organizationId));
    return settled(await store.create(organizationId, draft, actor, once));
  }

  /** The input may depend on the role as it is while no other request can change it. */
  async function update(
    setting: Setting,
    id: bigint,
    input: RoleInput | ((current: Role) => RoleInput),
    precondition: Precondition,
  ): Promise<Role> {
    const { organizationId, actor } = setting;
    const held = await heldBy(judge, actor.id, organizationId);
    const decide = (current: Role) => {
      precondition(current);
      const next = draftOf(current, typeof input === 'function' ? input(current) : input);
      requireRoomForTeams(limits, next, current);
      rejectEscalation(grantedAnew(current, next), held);
      return next;
    };
    return settled(await store.update(organizationId, id, decide, actor));
  }

  async function remove({ organizationId, actor }: Setting, id: bigint, precondition: Precondition): Promise<void> {
    if (!(await store.remove(organizationId, id, precondition, actor))) throw roleNotFound();
  }
}

/** The role that the input describes; throws if it is not valid. */
export function draftOf(current: RoleDraft | undefined, input: RoleInput): RoleDraft {
  const teamIds = input.teamIds === undefined ? (current?.teamIds ?? []) : ascending(input.teamIds);
  const ends = teamIds.map((team) => [team, input.terms?.get(team) ?? endOf(current, team, input)] as const);
  return {
    name: input.name === undefined ? (current?.name ?? '') : readLineField('name', input.name, MAX_NAME, 1),
    description: input.description === undefined ? (current?.description ?? '') : readDescription(input.description),
    permissions: input.permissions === undefined ? (current?.permissions ?? []) : readPermissions(input.permissions),
    teamIds,
    teamExpiries: new Map(ends.flatMap(([team, end]) => (end ? [[team, end]] : []))),
  };
}

function endOf(current: RoleDraft | undefined, team: bigint, { terms }: Pick<RoleInput, 'terms'> = {}): Date | null {
  return terms?.has(team) ? null : (current?.teamExpiries?.get(team) ?? null);
}

/** What teams would hold through the role that they did not hold through it before, or not for as long. */
export function grantedAnew(current: RoleDraft, next: RoleDraft): readonly CatalogEntry[] {
  const isLonger = (team: bigint) => endsBefore(endOf(current, team), endOf(next, team));
  const reachesNewTeam = next.teamIds.some((team) => !current.teamIds.includes(team) || isLonger(team));
  return reachesNewTeam ? next.permissions : next.permissions.filter((one) => !current.permissions.includes(one));
}

/** Every team of a role is read with the role, wherever roles are listed. */
export function requireRoomForTeams({ teamsPerRole }: RoleLimits, next: RoleDraft, current?: RoleDraft): void {
  const [before, after] = [current?.teamIds.length ?? 0, next.teamIds.length];
  if (after > teamsPerRole && after > before) throw limitReached('teamsPerRole', teamsPerRole, before);
}

/** What the store answered, unless it rejected the role. */
export function settled(outcome: Role | Rejection | undefined): Role {
  if (outcome === undefined) throw roleNotFound();
  if (!('rejected' in outcome)) return outcome;
  if (outcome.rejected === 'name taken')
    throw invalidField('name', 'name is taken by another role of the organization', 'name_taken');
  throw new AppError('invalid', `not a team of the organization: ${outcome.teamIds.join(', ')}`);
}

function readDescription(text: string): string {
  if ([...text].length > MAX_DESCRIPTION) {
    throw invalidField('description', `description must have at most ${MAX_DESCRIPTION} characters`);
  }
  return text;
}

function readPermissions(pairs: readonly PermissionPair[]): CatalogEntry[] {
  const unknown = pairs.filter((pair) => !findPermission(pair));
  if (unknown.length > 0)
    throw new AppError(
      'invalid',
      `unknown permission: ${unknown.slice(0, MAX_NAMED).map(describePermission).join(', ')}`,
    );
  return inCatalogOrder(pairs.flatMap((pair) => findPermission(pair) ?? []));
}

function ascending(ids: readonly bigint[]): bigint[] {
  return [...new Set(ids)].sort((a, b) => (a < b ? -1 : 1));
}

export function roleNotFound(): AppError {
  return new AppError('notFound', 'role not found', { reason: 'role_not_found' });
}
