import { createExactCache, type Loaded } from '../changes/exact-cache.ts';
import type { Revisions } from '../changes/revision.ts';
import { PLATFORM } from '../changes/write.ts';
import type { Person } from './callers.ts';

/** Who must have a second factor in this deployment. */
export type SecondFactorPolicy = 'optional' | 'administrators' | 'everyone';

export interface SecondFactorStore {
  /** The organizations whose members must have a second factor. */
  requiring(): Promise<Loaded<ReadonlySet<bigint>>>;
}

export type SecondFactors = ReturnType<typeof createSecondFactors>;

/** Who needs a second factor: all users, site administrators, or the members of organizations that say so. */
export function createSecondFactors(
  store: SecondFactorStore,
  revisions: Pick<Revisions, 'latest' | 'isLatest' | 'requireAfter' | 'listen'>,
  policy: SecondFactorPolicy,
) {
  // There is one value. Writes that change it name the deployment, because an organization that is new in it is not
  // known here before.
  const requiring = createExactCache<ReadonlySet<bigint>>({
    revisions,
    load: () => store.requiring(),
    dependsOn: () => [PLATFORM],
    max: 1,
  });

  return { policy, isRequired, isMissing };

  /** For a request whose caller is known already, so that everything remembered is exact for it. */
  async function isRequired({ isAdmin, organizations }: Pick<Person, 'isAdmin' | 'organizations'>): Promise<boolean> {
    if (policy === 'everyone' || (policy === 'administrators' && isAdmin)) return true;
    if (organizations.size === 0) return false;
    const known = (await requiring.get('')) ?? new Set();
    if (known.size === 0) return false;
    return [...organizations.keys()].some((id) => known.has(id));
  }

  /** Whether the user must add a second factor before anything else. */
  async function isMissing(person: Pick<Person, 'isAdmin' | 'organizations' | 'secondFactors'>): Promise<boolean> {
    return person.secondFactors.length === 0 && (await isRequired(person));
  }
}
