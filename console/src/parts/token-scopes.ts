export interface ScopeArea {
  readonly area: string;
  readonly title: string;
  readonly about: string;
}

/** What a token may be used for, in words. */
export const SCOPE_AREAS: readonly ScopeArea[] = [
  {
    area: 'user',
    title: 'Account',
    about: 'Profile, email addresses, tokens, sessions, follows, own clusters, orders',
  },
  { area: 'organization', title: 'Organizations', about: 'Members, teams, clusters, contracts, robots, audit log' },
  { area: 'authz', title: 'Roles and access', about: 'Custom roles, and who may do what' },
  { area: 'credential', title: 'Cloud credentials', about: 'Keys to clouds in clear text, and buckets' },
  { area: 'admin', title: 'Site administration', about: 'All users and organizations of this server' },
];

/** "read account", or "everything". */
export function scopeInWords(scope: string): string {
  if (scope === 'all') return 'everything';
  if (scope === 'scim') return 'provisioning by SCIM';
  const [level = '', area = ''] = scope.split(':');
  const known = SCOPE_AREAS.find((one) => one.area === area);
  return known === undefined ? scope : `${level} ${known.title.toLowerCase()}`;
}
