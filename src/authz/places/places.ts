import type { PlaceType } from '../../changes/object-kinds.ts';
import type { RoleGrant } from '../escalation.ts';

/** What a role is assigned on. A set of clusters that has never had a cluster has no ID yet. */
export interface Place {
  readonly type: PlaceType;
  readonly id: bigint | undefined;
  /** A team that only owners touch: whatever a role says, no other user gets more than a view of it. */
  readonly isOwners?: boolean;
  /** Of a cluster or a set: the namespaces that it counts in, names and prefixes that end in `*`. Null: in all of it. */
  readonly namespaces?: readonly string[] | null;
}

/** Relations that are not permissions themselves, by what a caller would ask for. */
const SHOWN: Readonly<Record<string, string>> = {
  viewer: 'can_view',
  remover: 'can_delete',
  manager: 'can_add_member',
};

type Scope = Pick<Place, 'type' | 'isOwners' | 'namespaces'>;

// To see a cluster, it is enough to have a role in a namespace of it.
const CLUSTERS: ReadonlyMap<string, string> = new Map([
  ['can_view_clusters', 'viewer'],
  ['can_edit_clusters', 'can_edit'],
  ['can_connect_clusters', 'can_connect'],
  ['can_view_cluster_config', 'can_view_orchestratorconfig'],
  ['can_remove_clusters', 'can_remove'],
  ['can_administer_clusters', 'can_administer'],
  ['can_review_clusters', 'can_review'],
]);

/** By type: which relations of the organization concern such an object, and what they are there. */
const RELATIONS: Readonly<Record<Exclude<PlaceType, 'organization'>, ReadonlyMap<string, string>>> = {
  cluster: CLUSTERS,
  cluster_set: new Map([...CLUSTERS.keys()].map((relation) => [relation, relation.slice('can_'.length)])),
  contract: new Map([
    ['can_view_contracts', 'can_view'],
    ['can_edit_contracts', 'can_edit'],
    ['can_delete_contracts', 'can_delete'],
  ]),
  robot_ac: new Map([
    ['can_view_robots', 'can_view'],
    ['can_edit_robots', 'can_edit'],
    ['can_delete_robots', 'can_delete'],
  ]),
  // Of a built-in team, and of one with a single owner, these relations hold although the team is protected.
  team: new Map([
    ['can_view_teams', 'can_view'],
    ['can_edit_teams', 'can_edit'],
    ['can_delete_teams', 'remover'],
    ['can_manage_team_members', 'manager'],
  ]),
};
const OWNERS: ReadonlyMap<string, string> = new Map([['can_view_teams', 'can_view']]);
/** What is about a namespace. The configuration of a cluster, whether it is there at all, and who reviews it, is not. */
const IN_NAMESPACES: ReadonlySet<string> = new Set([
  'can_view_clusters',
  'can_edit_clusters',
  'can_connect_clusters',
  'can_administer_clusters',
]);

/** What a relation of the organization is called on a place. Undefined if it does not concern the place. */
export function relationOn({ type, isOwners = false, namespaces }: Scope, relation: string): string | undefined {
  if (type === 'organization') return relation;
  if (namespaces && !IN_NAMESPACES.has(relation)) return undefined;
  return (isOwners ? OWNERS : RELATIONS[type]).get(relation);
}

/** Splits the permissions of a role into those that count on a place, and the others. */
export function effectiveOn<Permission extends Pick<RoleGrant, 'relation'>>(
  place: Scope,
  permissions: readonly Permission[],
): { readonly effective: readonly Permission[]; readonly withoutEffect: readonly Permission[] } {
  const counts = ({ relation }: Permission) => relationOn(place, relation) !== undefined;
  return { effective: permissions.filter(counts), withoutEffect: permissions.filter((one) => !counts(one)) };
}

/** How an answer names what a caller must hold on a single object. */
export function shownRelation(relation: string): string {
  return SHOWN[relation] ?? relation;
}
