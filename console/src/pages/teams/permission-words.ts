/** What a team's permission means. */
export const PERMISSIONS = [
  { value: 'none', label: 'None: only what its roles grant' },
  { value: 'read', label: 'Read: view everything' },
  { value: 'write', label: 'Write: also import and change clusters, contracts and robots' },
  { value: 'admin', label: 'Admin: also manage members, teams and roles' },
] as const;

export function permissionWord(permission: string): string {
  return permission === 'none' ? 'roles only' : permission;
}
