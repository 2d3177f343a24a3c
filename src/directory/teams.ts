import { AppError } from '../errors.ts';
import type { Actor } from './audit.ts';
import type { Permission } from './callers.ts';
import type { TeamDetails } from './profile.ts';

export interface TeamDraft {
  readonly name: string;
  readonly description: string;
  readonly permission: Permission;
  readonly type: 'builtin' | 'custom';
  readonly units?: readonly string[];
}

/** What is left out stays as it is. */
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
  create(organizationId: bigint, draft: TeamDraft, actor?: Actor): Promise<TeamDetails | 'name taken' | undefined>;
  /** `decide` sees the team as it is while nobody else can change it. */
  update(
    id: bigint,
    decide: (current: TeamDetails) => TeamDraft,
    actor: Actor,
  ): Promise<TeamDetails | 'name taken' | undefined>;
  remove(id: bigint, decide: (current: TeamDetails) => void, actor: Actor): Promise<boolean>;
}

/** Throws when a team may not become, or stop being, what is asked for. */
export type TeamCondition = (current: TeamDetails, next?: TeamDraft) => void;

export type Teams = ReturnType<typeof createTeams>;

/** Every organization is born with these, the founder in the first. */
export const BUILT_IN_TEAMS: readonly TeamDraft[] = [
  { name: 'Owners', permission: 'owner', type: 'builtin', description: 'May do everything in the organization.' },
  { name: 'Editors', permission: 'write', type: 'builtin', description: 'May change all resources.' },
  { name: 'Viewers', permission: 'read', type: 'builtin', description: 'May see all resources.' },
];

const NAME = /^[0-9A-Za-z][-. \w]{0,99}$/;

/** Teams of organizations. The built-in ones keep their name and their permission, and stay. */
export function createTeams(store: TeamStore) {
  return { create, update, remove };

  async function create({ organizationId, ...team }: NewTeam, actor?: Actor): Promise<TeamDetails> {
    const draft = { name: readName(team.name), permission: readPermission(team.permission), type: 'custom' } as const;
    const rest = { description: team.description ?? '', units: team.units ?? [] };
    return settled(await store.create(organizationId, { ...draft, ...rest }, actor), 'organization does not exist');
  }

  async function update(id: bigint, input: TeamInput, require: TeamCondition, actor: Actor): Promise<TeamDetails> {
    const decide = (current: TeamDetails): TeamDraft => {
      const next = draftOf(current, input);
      require(current, next);
      const isKept = next.name === current.name && next.permission === current.permission;
      if (current.type === 'builtin' && !isKept) throw builtIn(current, 'keeps its name and its permission');
      return next;
    };
    return settled(await store.update(id, decide, actor), 'team does not exist');
  }

  async function remove(id: bigint, require: TeamCondition, actor: Actor): Promise<void> {
    const decide = (current: TeamDetails) => {
      require(current);
      if (current.type === 'builtin') throw builtIn(current, 'cannot be deleted');
    };
    if (!(await store.remove(id, decide, actor))) throw new AppError('notFound', 'team does not exist');
  }
}

function draftOf(current: TeamDetails, input: TeamInput): TeamDraft {
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

/** Plain letters only, so that "the same but for letter case" means the same in every database. */
function readName(text: string): string {
  const name = text.trim();
  if (NAME.test(name)) return name;
  throw fault(
    'name',
    'name must be 1 to 100 letters, digits, blanks, "-", "_" or ".", and start with a letter or digit',
  );
}

/** There is one owners' team, and it is born with the organization. */
function readPermission(permission: Permission): Permission {
  if (permission === 'owner') throw fault('permission', 'permission must be one of none, read, write, admin');
  return permission;
}

function settled(outcome: TeamDetails | 'name taken' | undefined, absence: string): TeamDetails {
  if (outcome === undefined) throw new AppError('notFound', absence);
  if (outcome === 'name taken') throw fault('name', 'name is taken by another team of the organization');
  return outcome;
}

function builtIn({ name }: TeamDetails, what: string): AppError {
  return new AppError('conflict', `the built-in team ${name} ${what}`);
}

function fault(field: string, message: string): AppError {
  return new AppError('malformed', message, { errors: [{ field, message }] });
}
