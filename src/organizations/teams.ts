import type { EscalationGuard } from '../authz/escalation.ts';
import { AppError, invalidField } from '../base/errors.ts';
import type { Page, PageRequest } from '../base/page.ts';
import type { Actor } from '../changes/audit-entry.ts';
import type { Once } from '../changes/write.ts';
import type { Permission } from '../identity/callers.ts';
import type { TeamDraft } from './built-in-teams.ts';
import { noOrganization, type Organization } from './organizations.ts';

export interface Team {
  readonly id: bigint;
  readonly name: string;
  readonly description: string;
  readonly permission: Permission;
  readonly type: 'builtin' | 'custom';
  readonly units: readonly string[];
  readonly roleIds: readonly bigint[];
  readonly memberCount: number;
  readonly organization: Organization;
  readonly version: number;
}

/** A field that is left out stays as it is. */
export interface TeamInput {
  readonly name?: string | undefined;
  readonly description?: string | undefined;
  readonly permission?: Permission | undefined;
  readonly units?: readonly string[] | undefined;
}

export interface NewTeam extends TeamInput {
  readonly organizationId: bigint;
  readonly name: string;
  readonly permission: Permission;
}

export interface TeamStore {
  /** The teams whose name contains the text: the owners first, then by name. */
  /** `among` are the only ones that may be shown, if not all may. */
  list(organizationId: bigint, text: string, request: PageRequest, among?: readonly bigint[]): Promise<Page<Team>>;
  get(id: bigint): Promise<Team | undefined>;
  create(
    organizationId: bigint,
    draft: TeamDraft,
    actor: Actor,
    once?: Once<Team>,
  ): Promise<Team | 'name taken' | undefined>;
  /** `decide` sees the team as it is while no other request can change it. */
  update(id: bigint, decide: (current: Team) => TeamDraft, actor: Actor): Promise<Team | 'name taken' | undefined>;
  remove(id: bigint, decide: (current: Team) => void, actor: Actor): Promise<boolean>;
}

/** Throws if the team is not as the caller last saw it. */
export type TeamPrecondition = (current: Team) => void;

export type Teams = ReturnType<typeof createTeams>;

const NAME = /^[0-9A-Za-z][-. \w]{0,99}$/;

/** Teams of organizations. The built-in ones keep their name and permission, and cannot be removed. */
export function createTeams(store: TeamStore, escalation: EscalationGuard) {
  return { list: store.list, get, create, update, remove };

  async function get(id: bigint): Promise<Team> {
    const team = await store.get(id);
    if (!team) throw noTeam();
    return team;
  }

  async function create({ organizationId, ...team }: NewTeam, actor: Actor, once?: Once<Team>): Promise<Team> {
    const { rejectEscalation } = await escalation(actor.id, organizationId);
    rejectEscalation({ permission: team.permission, roles: [] });
    const draft = { name: readName(team.name), permission: readPermission(team.permission), type: 'custom' } as const;
    const rest = { description: team.description ?? '', units: team.units ?? [] };
    return unwrap(await store.create(organizationId, { ...draft, ...rest }, actor, once), noOrganization());
  }

  async function update(
    organizationId: bigint,
    id: bigint,
    input: TeamInput,
    precondition: TeamPrecondition,
    actor: Actor,
  ): Promise<Team> {
    const { rejectEscalation } = await escalation(actor.id, organizationId);
    const decide = (current: Team): TeamDraft => {
      const next = draftOf(current, input);
      precondition(current);
      if (next.permission !== current.permission) rejectEscalation({ permission: next.permission, roles: [] });
      const isKept = next.name === current.name && next.permission === current.permission;
      if (current.type === 'builtin' && !isKept) throw builtIn(current, 'must keep its name and permission');
      return next;
    };
    return unwrap(await store.update(id, decide, actor), noTeam());
  }

  async function remove(id: bigint, precondition: TeamPrecondition, actor: Actor): Promise<void> {
    const decide = (current: Team) => {
      precondition(current);
      if (current.type === 'builtin') throw builtIn(current, 'cannot be deleted');
    };
    if (!(await store.remove(id, decide, actor))) throw noTeam();
  }
}

function draftOf(current: Team, input: TeamInput): TeamDraft {
  const isNamed = input.name !== undefined && input.name !== current.name;
  const isChanged = input.permission !== undefined && input.permission !== current.permission;
  return {
    name: isNamed ? readName(input.name) : current.name,
    description: input.description ?? current.description,
    permission: isChanged ? readPermission(input.permission) : current.permission,
    type: current.type,
    units: input.units ?? current.units,
  };
}

/** ASCII letters only, so that comparing names without regard to case gives the same result in every database. */
export function readName(text: string): string {
  const name = text.trim();
  if (NAME.test(name)) return name;
  throw invalidField(
    'name',
    'name must be 1 to 100 letters, digits, spaces, "-", "_" or ".", and start with a letter or digit',
  );
}

/** There is only one owners' team, and it is created with the organization. */
export function readPermission(permission: Permission): Permission {
  if (permission === 'owner') throw invalidField('permission', 'permission must be one of none, read, write, admin');
  return permission;
}

function unwrap(outcome: Team | 'name taken' | undefined, absence: AppError): Team {
  if (outcome === undefined) throw absence;
  if (outcome === 'name taken') throw nameTaken();
  return outcome;
}

export function nameTaken(): AppError {
  return invalidField('name', 'name is taken by another team of the organization', 'name_taken');
}

export function builtIn({ name }: Pick<Team, 'name'>, what: string): AppError {
  return new AppError('conflict', `the built-in team ${name} ${what}`);
}

export function noTeam(): AppError {
  return new AppError('notFound', 'team does not exist', { reason: 'team_not_found' });
}
