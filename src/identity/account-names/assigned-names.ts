import { nameKey } from './account-names.ts';

/** Whether the operator has given something to the organization of this name, in the settings. */
export type IsAssigned = (name: string) => boolean;

interface Settings {
  readonly SCIM_DOMAINS: readonly { readonly organization: string }[];
  /** Not checked yet: each may have `group_mappings`, which name organizations. */
  readonly OIDC_PROVIDERS: readonly unknown[];
}

/**
 * Names that settings refer to: a user who creates an organization of such a name gets an email domain, or the people of a
 * group. So only site administrators give these names to organizations.
 */
export function assignedNames({ SCIM_DOMAINS, OIDC_PROVIDERS }: Settings): readonly string[] {
  const mapped = OIDC_PROVIDERS.flatMap((provider) => listIn(provider, 'group_mappings')).map((mapping) =>
    String((mapping as { organization?: unknown } | null)?.organization ?? ''),
  );
  const names = [...SCIM_DOMAINS.map(({ organization }) => organization), ...mapped];
  return [...new Set(names.map(nameKey))].filter((name) => name !== '');
}

export function createAssignedNames(settings: Settings): IsAssigned {
  const names = new Set(assignedNames(settings));
  return (name) => names.has(nameKey(name));
}

function listIn(value: unknown, key: string): readonly unknown[] {
  const list = typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[key] : undefined;
  return Array.isArray(list) ? list : [];
}
