import { AppError } from '../base/errors.ts';
import type { Page, PageRequest } from '../base/page.ts';
import type { Actor } from '../changes/audit-entry.ts';
import { nameKey } from '../identity/account-names.ts';
import type { Person } from '../identity/callers.ts';
import { nameTaken, requireName } from '../users/user-fields.ts';
import { BUILT_IN_TEAMS, type TeamDraft } from './built-in-teams.ts';

/** An organization as its members see it. */
export interface Organization extends OrganizationFields {
  readonly id: bigint;
  readonly orgType: string;
  readonly version: number;
}

export type Visibility = 'public' | 'limited' | 'private';

export interface OrganizationFields {
  readonly name: string;
  readonly fullName: string;
  readonly description: string;
  readonly website: string;
  readonly location: string;
  readonly visibility: Visibility;
}

/** A field that is left out stays as it is, or empty. */
export type OrganizationInput = { readonly [Key in keyof OrganizationFields]?: OrganizationFields[Key] | undefined };

export interface NewOrganization extends OrganizationInput {
  readonly name: string;
  readonly founderId: bigint;
}

export interface OrganizationDraft extends OrganizationFields {
  readonly founderId: bigint;
  readonly teams: readonly TeamDraft[];
}

export interface OrganizationStore {
  /** Ordered by ID. */
  list(among: readonly bigint[] | 'all' | 'ownerless', request: PageRequest): Promise<Page<Organization>>;
  get(id: bigint): Promise<Organization | undefined>;
  /** The founder joins the first of the teams. */
  create(
    draft: OrganizationDraft,
    actor?: Actor,
  ): Promise<{ id: bigint; teamIds: readonly bigint[] } | 'name taken' | 'no founder'>;
  /** `decide` sees the organization as it is while nobody else can change it. */
  update(
    id: bigint,
    decide: (current: Organization) => OrganizationFields,
    actor: Actor,
  ): Promise<Organization | 'name taken' | undefined>;
  /** Everything that the organization owns is removed with it. */
  remove(id: bigint, decide: (current: Organization) => void, actor: Actor): Promise<boolean>;
}

/** Throws if something is not as the caller last saw it. */
export type Precondition<T> = (current: T) => void;

export type Organizations = ReturnType<typeof createOrganizations>;

export const NO_FIELDS: Omit<OrganizationFields, 'name'> = {
  fullName: '',
  description: '',
  website: '',
  location: '',
  visibility: 'public',
};

export function createOrganizations(store: OrganizationStore) {
  return { listOf, listAll, get, create, update, remove };

  async function listOf(person: Pick<Person, 'organizations'>, request: PageRequest): Promise<Page<Organization>> {
    return await store.list([...person.organizations.keys()], request);
  }

  async function listAll(request: PageRequest, ownerless = false): Promise<Page<Organization>> {
    return await store.list(ownerless ? 'ownerless' : 'all', request);
  }

  async function get(id: bigint): Promise<Organization> {
    const found = await store.get(id);
    if (!found) throw noOrganization();
    return found;
  }

  async function create(organization: NewOrganization, actor?: Actor) {
    requireName(organization.name);
    const fields = merged({ name: organization.name, ...NO_FIELDS }, organization);
    const outcome = await store.create({ ...fields, founderId: organization.founderId, teams: BUILT_IN_TEAMS }, actor);
    if (outcome === 'name taken') throw nameTaken(organization.name);
    if (outcome === 'no founder') throw new AppError('notFound', 'user does not exist', { reason: 'user_not_found' });
    const { id, teamIds } = outcome;
    return { id, teams: new Map(teamIds.map((teamId, index) => [BUILT_IN_TEAMS[index]?.name ?? '', teamId])) };
  }

  async function update(
    id: bigint,
    input: OrganizationInput,
    precondition: Precondition<Organization>,
    actor: Actor,
  ): Promise<Organization> {
    const { name } = input;
    const outcome = await store.update(
      id,
      (current) => {
        precondition(current);
        // An organization keeps its own name in any letter case, even if the name is reserved by now.
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

  async function remove(id: bigint, precondition: Precondition<Organization>, actor: Actor): Promise<void> {
    if (!(await store.remove(id, precondition, actor))) throw noOrganization();
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
  return new AppError('notFound', 'organization does not exist', { reason: 'organization_not_found' });
}
