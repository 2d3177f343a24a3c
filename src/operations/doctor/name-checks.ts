import type { Config } from '../../base/config/config.ts';
import { assignedNames } from '../../identity/account-names/assigned-names.ts';
import { type Finding, ok, warning } from './finding.ts';

interface NameStore {
  /** Those of the names that are the names of organizations. */
  organizationsNamed(names: readonly string[]): Promise<readonly string[]>;
}

/**
 * Names that settings refer to. Without an organization, one is a typo, or waits for the organization that is to get
 * it.
 */
export async function examineNames(store: NameStore, config: Config): Promise<Finding[]> {
  const names = assignedNames(config);
  if (names.length === 0) return [];
  const present = new Set(await store.organizationsNamed(names));
  const missing = names.filter((name) => !present.has(name));
  if (missing.length === 0) return [ok('organizations', 'all that the settings name exist')];
  const text = `SCIM_DOMAINS or OIDC_PROVIDERS name organizations that do not exist: ${missing.join(', ')}`;
  return [warning('organizations', text, 'Correct the names, or let a site administrator create the organizations.')];
}
