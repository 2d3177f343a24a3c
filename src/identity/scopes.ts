/** What a token may be used for. `write` includes `read`; `all` includes everything. */
export const SCOPE_AREAS = ['user', 'authz', 'credential', 'organization', 'admin'] as const;
export type ScopeArea = (typeof SCOPE_AREAS)[number];
export type ScopeLevel = 'read' | 'write';
export type Scope = 'all' | `${ScopeLevel}:${ScopeArea}`;

export const SCOPES: readonly string[] = ['all', ...SCOPE_AREAS.flatMap((area) => [`read:${area}`, `write:${area}`])];

export function scopesAllow(scopes: readonly string[], needed: Scope): boolean {
  return scopes.includes('all') || scopes.includes(needed) || scopes.includes(needed.replace('read:', 'write:'));
}

/** Whether the held scopes allow everything that the wanted ones allow. */
export function scopesCover(held: readonly string[], wanted: readonly string[]): boolean {
  if (held.includes('all')) return true;
  return wanted.every((scope) => scope !== 'all' && scopesAllow(held, scope as Scope));
}
