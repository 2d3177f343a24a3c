// Made by `npm run generate` from src/authz/platform.fga.

/** What can be asked of each type of object: for completion, and to guess what a mistyped word was meant to be. */
export const RELATIONS: Readonly<Record<string, readonly string[]>> = {
  user: ['can_view', 'can_edit'],
  organization: ['can_view', 'can_edit', 'can_delete', 'can_leave', 'can_view_members', 'can_add_member', 'can_remove_member', 'can_view_teams', 'can_create_team', 'can_edit_teams', 'can_delete_teams', 'can_manage_team_members', 'can_view_roles', 'can_create_role', 'can_edit_roles', 'can_delete_roles', 'can_view_audit_log', 'can_view_clusters', 'can_import_clusters', 'can_edit_clusters', 'can_connect_clusters', 'can_view_cluster_config', 'can_remove_clusters', 'can_view_contracts', 'can_create_contracts', 'can_edit_contracts', 'can_delete_contracts', 'can_view_robots', 'can_create_robots', 'can_edit_robots', 'can_delete_robots', 'can_view_tokens', 'can_create_tokens', 'can_delete_tokens'],
  team: ['can_view', 'can_edit', 'can_delete', 'can_add_member', 'can_remove_member'],
  role: ['can_view', 'can_edit', 'can_delete'],
  cluster: ['can_view', 'can_edit', 'can_remove', 'can_connect', 'can_view_orchestratorconfig'],
  contract: ['can_view', 'can_edit', 'can_delete'],
  robot_ac: ['can_view', 'can_edit', 'can_delete'],
  token: ['can_view', 'can_delete'],
};
