import type { Actor } from '../directory/audit.ts';
import type { Person } from '../directory/callers.ts';
import type { Listed, Slice } from '../directory/listed.ts';
import { type NewOrganization, noOrganization, type Organizations } from '../directory/organizations.ts';
import type { OrganizationDetails } from '../directory/profile.ts';

export interface OrganizationReads {
  /** By id. */
  list(among: readonly bigint[] | 'all', slice: Slice): Promise<Listed<OrganizationDetails>>;
  get(id: bigint): Promise<OrganizationDetails | undefined>;
}

export type OrganizationRegister = ReturnType<typeof createOrganizationRegister>;

export function createOrganizationRegister(
  reads: OrganizationReads,
  organizations: Pick<Organizations, 'create' | 'update' | 'remove'>,
) {
  return { of, all, get, create, update: organizations.update, remove: organizations.remove };

  async function of(person: Pick<Person, 'organizations'>, slice: Slice): Promise<Listed<OrganizationDetails>> {
    return await reads.list([...person.organizations.keys()], slice);
  }

  async function all(slice: Slice): Promise<Listed<OrganizationDetails>> {
    return await reads.list('all', slice);
  }

  async function get(id: bigint): Promise<OrganizationDetails> {
    const found = await reads.get(id);
    if (!found) throw noOrganization();
    return found;
  }

  async function create(organization: NewOrganization, actor: Actor): Promise<OrganizationDetails> {
    const { id } = await organizations.create(organization, actor);
    return await get(id);
  }
}
