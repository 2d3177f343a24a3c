import type { Judge } from '../authz/judge.ts';
import { AppError, invalidField, missingRelation } from '../base/errors.ts';
import type { Page, PageRequest } from '../base/page.ts';
import type { Actor } from '../changes/audit-entry.ts';
import type { Once } from '../changes/write.ts';
import { type NameConflict, nameKey } from '../identity/account-names/account-names.ts';
import type { IsAssigned } from '../identity/account-names/assigned-names.ts';
import type { Person } from '../identity/callers.ts';
import { nameUnavailable, requireNameField } from '../users/user-fields.ts';
import { BUILT_IN_TEAMS, type TeamDraft } from './built-in-teams.ts';

/** An organization as its members see it. */
export interface Organization extends OrganizationFields {
  readonly id: bigint;
  readonly orgType: string;
  readonly version: number;
}

/** An organization and its former names, which stay reserved for it. */
export interface RenamedOrganization extends Organization {
  readonly formerNames: readonly string[];
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
  /** Who asks for it. Undefined if the server itself does. */
  readonly askedBy?: Pick<Person, 'isAdmin'>;
}

export interface OrganizationDraft extends OrganizationFields {
  readonly founderId: bigint;
  readonly teams: readonly TeamDraft[];
}

export interface OrganizationSearch {
  /** Part of the name or the full name. */
  readonly text: string;
  /** Only those without an owner. */
  readonly ownerless: boolean;
}

export interface OrganizationStore {
  /** Ordered by ID. */
  listSome(ids: readonly bigint[], request: PageRequest): Promise<Page<Organization>>;
  /** Those whose name or full name contains the text, ordered by ID. */
  listAll(search: OrganizationSearch, request: PageRequest): Promise<Page<Organization>>;
  get(id: bigint): Promise<Organization | undefined>;
  /** The founder joins the first of the teams. */
  create(
    draft: OrganizationDraft,
    actor?: Actor,
    once?: Once<Organization>,
  ): Promise<{ id: bigint; teamIds: readonly bigint[] } | NameConflict | 'no founder'>;
  /** `decide` sees the organization as it is while no other request can change it. */
  update(
    id: bigint,
    decide: (current: RenamedOrganization) => OrganizationFields,
    actor: Actor,
  ): Promise<Organization | NameConflict | undefined>;
  /** Everything that the organization owns is removed with it. */
  remove(id: bigint, decide: (current: Organization) => void, actor: Actor): Promise<boolean>;
}

/** Throws if something is not as the caller last saw it. */
export type Precondition<T> = (current: T) => void;

export type Organizations = ReturnType<typeof createOrganizations>;

/** Each former name is kept from all other accounts, so a user cannot collect names by renaming one organization. */
const MAX_FORMER_NAMES = 10;

export const NO_FIELDS: Omit<OrganizationFields, 'name'> = {
  fullName: '',
  description: '',
  website: '',
  location: '',
  visibility: 'public',
};

export function createOrganizations(
  store: OrganizationStore,
  judge: Pick<Judge, 'holds'>,
  isAssigned: IsAssigned = () => false,
) {
  return { listOf, listAll, get, create, update, remove };

  async function listOf(person: Pick<Person, 'organizations'>, request: PageRequest): Promise<Page<Organization>> {
    return await store.listSome([...person.organizations.keys()], request);
  }

  async function listAll(
    request: PageRequest,
    search: OrganizationSearch = { text: '', ownerless: false },
  ): Promise<Page<Organization>> {
    return await store.listAll({ ...search, text: search.text.trim() }, request);
  }

  async function get(id: bigint): Promise<Organization> {
    const found = await store.get(id);
    if (!found) throw noOrganization();
    return found;
  }

  async function create(organization: NewOrganization, actor?: Actor, once?: Once<Organization>) {
    requireNameField(organization.name);
    if (organization.askedBy) requireUnassigned(organization.name, organization.askedBy);
    const fields = merged({ name: organization.name, ...NO_FIELDS }, organization);
    const draft = { ...fields, founderId: organization.founderId, teams: BUILT_IN_TEAMS };
    const outcome = await store.create(draft, actor, once);
    if (outcome === 'no founder') throw new AppError('notFound', 'user does not exist', { reason: 'user_not_found' });
    if (typeof outcome === 'string') throw nameUnavailable(organization.name, outcome);
    const { id, teamIds } = outcome;
    return { id, teams: new Map(teamIds.map((teamId, index) => [BUILT_IN_TEAMS[index]?.name ?? '', teamId])) };
  }

  /**
   * A caller who may edit an organization may change everything but its name: all requests name the organization, so a new
   * name is for its owners to decide.
   */
  async function update(
    id: bigint,
    input: OrganizationInput,
    precondition: Precondition<Organization>,
    actor: Actor,
    askedBy: Pick<Person, 'isAdmin'>,
  ): Promise<Organization> {
    const { name } = input;
    const mayRename = name !== undefined && (await judge.holds(actor.id, id, 'owner', { type: 'organization', id }));
    const outcome = await store.update(
      id,
      (current) => {
        precondition(current);
        if (name !== undefined && name !== current.name) {
          if (!mayRename) throw missingRelation('owner:org', ': only an owner can change the name of an organization');
          // An organization keeps its own name in any letter case, even if the name is reserved by now.
          const key = nameKey(name);
          if (key === '' || key !== nameKey(current.name)) {
            requireNameField(name);
            requireUnassigned(name, askedBy);
            // A name that it takes back is no longer a former one.
            const kept = current.formerNames.filter((former) => nameKey(former) !== key);
            if (kept.length >= MAX_FORMER_NAMES) throw tooManyNames();
          }
        }
        return merged(current, input);
      },
      actor,
    );
    if (outcome === undefined) throw noOrganization();
    if (typeof outcome === 'string') throw nameUnavailable(name ?? '', outcome);
    return outcome;
  }

  function requireUnassigned(name: string, { isAdmin }: Pick<Person, 'isAdmin'>): void {
    if (isAdmin || !isAssigned(name)) return;
    const why = 'a setting of the server refers to it: ask a site administrator';
    throw invalidField('username', `name is reserved: ${name} (${why})`, 'name_reserved');
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

function tooManyNames(): AppError {
  const message = `an organization can have ${MAX_FORMER_NAMES} former names: ask a site administrator to release one`;
  return invalidField('username', message, 'limit_reached');
}

export function noOrganization(): AppError {
  return new AppError('notFound', 'organization does not exist', { reason: 'organization_not_found' });
}
