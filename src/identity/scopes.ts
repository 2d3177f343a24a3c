/** What a token may be used for. `write` includes `read`; `all` includes everything. */
export const SCOPE_AREAS = ['user', 'authz', 'credential', 'organization', 'admin'] as const;
export type ScopeArea = (typeof SCOPE_AREAS)[number];
export type ScopeLevel = 'read' | 'write';
export type Scope = 'all' | typeof SCIM | typeof KUBE | `${ScopeLevel}:${ScopeArea}`;

/** Areas that other servers of this API family have. A token keeps such scopes, but no route here asks for them. */
const FOREIGN_AREAS = ['activitypub', 'issue', 'misc', 'notification', 'package', 'repository'] as const;

/** Takes away everything but the routes that show every signed-in user the same. */
export const PUBLIC_ONLY = 'public-only';

/**
 * Provisioning by an identity provider: the only scope of its token, which belongs to a robot. Nothing else is open to
 * such a token, and what is open to it is open to no other, not even to one with `all`.
 */
export const SCIM = 'scim';

/** Tokens for clusters, and requests in clusters: what `atrium kube` needs, and nothing else. */
export const KUBE = 'kube';

export const SCOPES: readonly string[] = [
  'all',
  PUBLIC_ONLY,
  SCIM,
  KUBE,
  ...[...SCOPE_AREAS, ...FOREIGN_AREAS].flatMap((area) => [`read:${area}`, `write:${area}`]),
];

/** Whether a token with these scopes may call a route that needs this one. */
export function scopesAllow(scopes: readonly string[], needed: Scope, isPublic = false): boolean {
  return includesScope(scopes, needed) && (isPublic || !scopes.includes(PUBLIC_ONLY));
}

/** Whether the held scopes allow everything that the wanted ones allow. */
export function scopesCover(held: readonly string[], wanted: readonly string[]): boolean {
  if (held.includes(PUBLIC_ONLY) && !wanted.includes(PUBLIC_ONLY)) return false;
  const isCovered = (scope: string) => scope === PUBLIC_ONLY || includesScope(held, scope);
  return wanted.every((scope) => isCovered(scope) || (scope === SCIM && held.includes('all')));
}

/** Whatever `public-only` takes away. */
export function includesScope(scopes: readonly string[], needed: string): boolean {
  if (needed === SCIM || scopes.includes(SCIM)) return needed === SCIM && scopes.length === 1 && scopes[0] === SCIM;
  return scopes.includes('all') || scopes.includes(needed) || scopes.includes(needed.replace('read:', 'write:'));
}
