const EDIT = { namespace: 'cluster_mgmt', action: 'reconfigure clusters' };
const REMOVE = { namespace: 'cluster_mgmt', action: 'remove clusters' };
const VIEW = { namespace: 'cluster_mgmt', action: 'view clusters' };

export const CLUSTER_PERMISSIONS = { EDIT, REMOVE, VIEW } as const;

/**
 * What a role permits, whether the team has it, and what its members may then do with a cluster. Each state takes away
 * something that the one before it granted.
 */
export const ROLE_STATES = [
  { permissions: [EDIT], isGiven: true, allowed: 'can_view,can_edit' },
  { permissions: [REMOVE], isGiven: true, allowed: 'can_view,can_remove' },
  { permissions: [REMOVE], isGiven: false, allowed: '' },
  { permissions: [VIEW], isGiven: true, allowed: 'can_view' },
] as const;
