import { AppError } from '../errors.ts';
import type { Actor } from './audit.ts';
import type { Members } from './members.ts';
import { nameKey } from './names.ts';
import { nameTaken, requireName } from './people.ts';
import type { OrganizationDetails, Visibility } from './profile.ts';
import { BUILT_IN_TEAMS, type NewTeam, type TeamDraft, type Teams } from './teams.ts';

/** What can be said about an organization, beside its name. */
export interface OrganizationTraits {
  readonly fullName: string;
  readonly description: string;
  readonly website: string;
  readonly location: string;
  readonly visibility: Visibility;
}

/** What is left out stays as it is, or empty. */
export type OrganizationInput = {
  readonly [Key in 'name' | keyof OrganizationTraits]?: OrganizationFields[Key] | undefined;
};
type OrganizationFields = OrganizationTraits & { readonly name: string };

export interface NewOrganization extends OrganizationInput {
  readonly name: string;
  readonly founderId: bigint;
}

export interface OrganizationDraft extends OrganizationFields {
  readonly founderId: bigint;
  readonly teams: readonly TeamDraft[];
}

export interface OrganizationStore {
  /** The founder joins the first of the teams. */
  create(
    draft: OrganizationDraft,
    actor?: Actor,
  ): Promise<{ id: bigint; teamIds: readonly bigint[] } | 'name taken' | 'no founder'>;
  /** `decide` sees the organization as it is while nobody else can change it. */
  update(
    id: bigint,
    decide: (current: OrganizationDetails) => OrganizationFields,
    actor: Actor,
  ): Promise<OrganizationDetails | 'name taken' | undefined>;
  /** Everything that is the organization's goes with it. */
  remove(id: bigint, decide: (current: OrganizationDetails) => void, actor: Actor): Promise<boolean>;
}

/** Throws when something is not as the caller last saw it. */
export type Precondition<T> = (current: T) => void;

export type Organizations = ReturnType<typeof createOrganizations>;

export const NO_TRAITS: OrganizationTraits = {
  fullName: '',
  description: '',
  website: '',
  location: '',
  visibility: 'public',
};

export function createOrganizations(
  store: OrganizationStore,
  teams: Pick<Teams, 'create'>,
  members: Pick<Members, 'add' | 'remove'>,
) {
  return {
    create,
    update,
    remove,
    // For whoever runs the house: nobody is asked what they hold themselves.
    createTeam: async (team: NewTeam) => (await teams.create(team)).id,
    addMember: async (teamId: bigint, accountId: bigint) => void (await members.add(teamId, accountId)),
    removeMember: (teamId: bigint, accountId: bigint) => members.remove(teamId, accountId),
  };

  async function create(organization: NewOrganization, actor?: Actor) {
    requireName(organization.name);
    const fields = merged({ name: organization.name, ...NO_TRAITS }, organization);
    const made = await store.create({ ...fields, founderId: organization.founderId, teams: BUILT_IN_TEAMS }, actor);
    if (made === 'name taken') throw nameTaken(organization.name);
    if (made === 'no founder') throw new AppError('notFound', 'user does not exist');
    const named = BUILT_IN_TEAMS.map((team, index) => [team.name, made.teamIds[index] ?? 0n] as const);
    return { id: made.id, teams: new Map(named) };
  }

  async function update(
    id: bigint,
    input: OrganizationInput,
    require: Precondition<OrganizationDetails>,
    actor: Actor,
  ): Promise<OrganizationDetails> {
    const { name } = input;
    const outcome = await store.update(
      id,
      (current) => {
        require(current);
        // The present name in any letter case is its own, also one that is reserved by now.
        const key = name === undefined ? undefined : nameKey(name);
        if (name !== undefined && (key === '' || key !== nameKey(current.name))) requireName(name);
        return merged(current, input);
      },
      actor,
    );
    if (outcome === undefined) throw noOrganization();
    if (outcome === 'name taken') throw nameTaken(name ?? '');
    return outcome;
  }

  async function remove(id: bigint, require: Precondition<OrganizationDetails>, actor: Actor): Promise<void> {
    if (!(await store.remove(id, require, actor))) throw noOrganization();
  }
}

function merged(current: OrganizationFields, input: OrganizationInput): OrganizationFields {
  return {
    name: input.name ?? current.name,
    fullName: input.fullName ?? current.fullName,
    description: input.description ?? current.description,
    website: input.website ?? current.website,
    location: input.location ?? current.location,
    visibility: input.visibility ?? current.visibility,
  };
}

export function noOrganization(): AppError {
  return new AppError('notFound', 'organization does not exist');
}
