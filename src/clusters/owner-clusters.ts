import type { VisibleClusters } from '../authz/visible-clusters.ts';
import { AppError } from '../base/errors.ts';
import type { Page, PageRequest } from '../base/page.ts';
import type { Callers, Person } from '../identity/callers.ts';
import type { Cluster } from './cluster.ts';
import type { ClusterListStore, ClusterSearch } from './cluster-list.ts';

type Viewer = Pick<Person, 'id' | 'login' | 'isAdmin' | 'organizations'>;

/** What is known about a cluster that may have been imported. */
export interface ClusterHint {
  readonly name: string;
  readonly uid: string;
}

export type OwnerClusters = ReturnType<typeof createOwnerClusters>;

/** The clusters of one owner, by the owner's name: the caller, or an organization that the caller is in. */
export function createOwnerClusters(
  store: ClusterListStore,
  visible: Pick<VisibleClusters, 'visibleIn'>,
  { organizationNamed }: Pick<Callers, 'organizationNamed'>,
) {
  return { list, get, find };

  /** Those that the caller may view. Without a request, the whole list. */
  async function list(
    person: Viewer,
    owner: string,
    search: ClusterSearch,
    request?: PageRequest,
  ): Promise<Page<Cluster>> {
    const ownerId = await ownerNamed(person, owner);
    return await store.withIds(await visible.visibleIn(person, ownerId), search, request);
  }

  async function get(person: Viewer, owner: string, name: string, now: Date): Promise<Cluster> {
    const found = await find(person, owner, { name, uid: '' }, now);
    if (!found) throw new AppError('notFound', 'cluster does not exist', { reason: 'cluster_not_found' });
    return found;
  }

  /** By its UID, otherwise by its name. */
  async function find(person: Viewer, owner: string, hint: ClusterHint, now: Date): Promise<Cluster | undefined> {
    const plain = { text: '', now, orderBy: 'id', isDescending: false } as const;
    if (hint.uid !== '') {
      const { items } = await list(person, owner, { ...plain, text: hint.uid });
      return items.find(({ uid }) => uid === hint.uid.toLowerCase());
    }
    const { items } = await list(person, owner, { ...plain, name: hint.name });
    return items[0];
  }

  /** For a caller who is not in it, an organization looks like one that does not exist. */
  async function ownerNamed(person: Viewer, name: string): Promise<bigint> {
    if (name.toLowerCase() === person.login.toLowerCase()) return person.id;
    const organization = await organizationNamed(name);
    if (organization && (person.isAdmin || person.organizations.has(organization.id))) return organization.id;
    const keptFrom = organization && { ownerId: organization.id, type: 'organization', id: organization.id };
    throw new AppError('notFound', 'organization does not exist', {
      reason: 'organization_not_found',
      ...(keptFrom && { keptFrom }),
    });
  }
}
