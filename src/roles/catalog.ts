import { actionNamed } from '../authz/explain/permission-names.ts';

/**
 * A permission that a custom role can grant. The action is what users read and send; the relation is the name in the
 * model.
 */
export interface CatalogEntry {
  readonly namespace: string;
  readonly action: string;
  readonly description: string;
  /** The relation on the organization that a role with this permission gets; exactly one. */
  readonly relation: string;
  /** Actions of the same namespace that this one requires; the model implies them. */
  readonly requires: readonly string[];
  /** Permissions that the calls for this one require as well; granting the one does not require granting the other. */
  readonly alongside?: readonly PermissionPair[];
}

export interface PermissionPair {
  readonly namespace: string;
  readonly action: string;
}

function entry(
  namespace: string,
  action: string,
  relation: string,
  description: string,
  ...requires: string[]
): CatalogEntry {
  return { namespace, action, relation, description, requires };
}

const robots = (action: string): readonly PermissionPair[] => [{ namespace: 'robot_mgmt', action }];

/** The tokens of an organization are those of its robots, and are accessed through them. */
const TOKENS: readonly CatalogEntry[] = [
  {
    ...entry('token_mgmt', 'view tokens', 'can_view_tokens', 'View the access tokens of the organization.'),
    alongside: robots('view robot accounts'),
  },
  {
    ...entry(
      'token_mgmt',
      'create tokens',
      'can_create_tokens',
      'Create access tokens for the organization.',
      'view tokens',
    ),
    alongside: robots('edit robot accounts'),
  },
  {
    ...entry(
      'token_mgmt',
      'revoke tokens',
      'can_delete_tokens',
      'Revoke access tokens of the organization.',
      'view tokens',
    ),
    alongside: robots('view robot accounts'),
  },
];

/** Every permission that can be assigned, in the order in which it is shown. */
export const CATALOG: readonly CatalogEntry[] = [
  entry('org_mgmt', 'edit', 'can_edit', 'Edit the details of the organization.'),
  entry('org_mgmt', 'view members', 'can_view_members', 'View the members of the organization.'),
  entry('org_mgmt', 'add members', 'can_add_member', 'Add users to the organization.', 'view members'),
  entry('org_mgmt', 'remove members', 'can_remove_member', 'Remove users from the organization.', 'view members'),
  entry('org_mgmt', 'view teams', 'can_view_teams', 'View the teams of the organization.'),
  entry('org_mgmt', 'create teams', 'can_create_team', 'Create teams.', 'view teams'),
  entry('org_mgmt', 'edit teams', 'can_edit_teams', 'Edit teams.', 'view teams'),
  entry('org_mgmt', 'delete teams', 'can_delete_teams', 'Delete teams.', 'view teams'),
  entry(
    'org_mgmt',
    'manage team members',
    'can_manage_team_members',
    'Add users to teams and remove them, except in the Owners team.',
    'view teams',
  ),
  entry('org_mgmt', 'view roles', 'can_view_roles', 'View custom roles and who has them.'),
  entry('org_mgmt', 'create roles', 'can_create_role', 'Create custom roles.', 'view roles'),
  entry('org_mgmt', 'edit roles', 'can_edit_roles', 'Edit custom roles and assign them to teams.', 'view roles'),
  entry('org_mgmt', 'delete roles', 'can_delete_roles', 'Delete custom roles.', 'view roles'),
  entry(
    'org_mgmt',
    'assign roles',
    'can_assign_roles',
    'Assign custom roles to teams, users and robots.',
    'view roles',
  ),
  entry('org_mgmt', 'view audit log', 'can_view_audit_log', 'View who changed what.'),
  entry('cluster_mgmt', 'view clusters', 'can_view_clusters', 'View the clusters of the organization.'),
  entry(
    'cluster_mgmt',
    'import clusters',
    'can_import_clusters',
    'Import clusters into the organization.',
    'view clusters',
  ),
  entry('cluster_mgmt', 'reconfigure clusters', 'can_edit_clusters', 'Edit clusters.', 'view clusters'),
  entry(
    'cluster_mgmt',
    'connect to clusters',
    'can_connect_clusters',
    'Open connections to clusters.',
    'view clusters',
  ),
  entry(
    'cluster_mgmt',
    'view orchestrator configuration',
    'can_view_cluster_config',
    'View the orchestrator configuration of clusters.',
    'view clusters',
  ),
  entry('cluster_mgmt', 'remove clusters', 'can_remove_clusters', 'Remove clusters.', 'view clusters'),
  entry(
    'cluster_mgmt',
    'administer clusters',
    'can_administer_clusters',
    'Do everything inside clusters, as cluster-admin, and decide how Kubernetes asks.',
    'view clusters',
  ),
  entry(
    'cluster_mgmt',
    'review requests',
    'can_review_clusters',
    'For robots: ask who a token of a cluster belongs to, and what may be done there.',
  ),
  entry('contract_mgmt', 'view contracts', 'can_view_contracts', 'View billing contracts.'),
  entry('contract_mgmt', 'create contracts', 'can_create_contracts', 'Create billing contracts.', 'view contracts'),
  entry('contract_mgmt', 'edit contracts', 'can_edit_contracts', 'Edit billing contracts.', 'view contracts'),
  entry('contract_mgmt', 'delete contracts', 'can_delete_contracts', 'Delete billing contracts.', 'view contracts'),
  entry('robot_mgmt', 'view robot accounts', 'can_view_robots', 'View robot accounts.'),
  entry('robot_mgmt', 'create robot accounts', 'can_create_robots', 'Create robot accounts.', 'view robot accounts'),
  entry('robot_mgmt', 'edit robot accounts', 'can_edit_robots', 'Edit robot accounts.', 'view robot accounts'),
  entry('robot_mgmt', 'delete robot accounts', 'can_delete_robots', 'Delete robot accounts.', 'view robot accounts'),
  ...TOKENS,
];

const PLACES = new Map(CATALOG.map((one, place) => [key(one), place]));

export function findPermission(pair: PermissionPair): CatalogEntry | undefined {
  return CATALOG[PLACES.get(key(pair)) ?? PLACES.get(key({ ...pair, action: actionNamed(pair.action) })) ?? -1];
}

/** Each pair once, in the order of the catalogue. */
export function inCatalogOrder(pairs: readonly CatalogEntry[]): CatalogEntry[] {
  const asked = new Set(pairs.map(key));
  return CATALOG.filter((one) => asked.has(key(one)));
}

function key({ namespace, action }: PermissionPair): string {
  return `${namespace}/${action}`;
}
