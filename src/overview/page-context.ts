import type { Judge } from '../authz/judge.ts';
import type { ObjectRef } from '../authz/object-ref.ts';
import { rejectOtherPeople } from '../authz/objects.ts';
import type { Callers, Person } from '../identity/callers.ts';
import type { Organization, Organizations } from '../organizations/organizations.ts';
import { SOON_DAYS } from './overview.ts';

/** What a page needs before it can show anything: where it is, what the caller may do there, what waits for them. */
export interface PageContext {
  /** Undefined if none was named, or if the caller may not see it. */
  readonly organization?: Organization | undefined;
  /** What the caller may do with the organization, and with the object of the page if there is one. */
  readonly allowed: readonly { readonly object: ObjectRef; readonly relations: readonly string[] }[];
  readonly notices: Notices;
}

export interface Notices {
  /** Those that end soon or have ended, the oldest first. */
  readonly tokens: readonly { readonly id: bigint; readonly name: string; readonly expiresAt: Date }[];
  readonly unverifiedEmails: readonly string[];
  /** Memberships of the caller that end soon, the earliest first. */
  readonly memberships: readonly EndingMembership[];
}

export interface EndingMembership {
  readonly team: { readonly id: bigint; readonly name: string };
  readonly organization: string;
  readonly expiresAt: Date;
}

export interface PageContextStore {
  /** Tokens and memberships that end before `soon`, and addresses that are not verified. */
  notices(personId: bigint, soon: Date): Promise<Notices>;
}

export interface PageQuestion {
  readonly organization?: string | undefined;
  /** In that organization. */
  readonly object?: ObjectRef | undefined;
}

export type GetPageContext = ReturnType<typeof createPageContext>;

const DAY_MS = 86_400_000;

export function createPageContext(
  store: PageContextStore,
  judge: Pick<Judge, 'allowed'>,
  { organizationNamed }: Pick<Callers, 'organizationNamed'>,
  organizations: Pick<Organizations, 'get'>,
) {
  return async (person: Person, question: PageQuestion, now: Date): Promise<PageContext> => {
    const { organization: name, object } = question;
    if (object) rejectOtherPeople(person.id, [object]);
    const soon = new Date(now.getTime() + SOON_DAYS * DAY_MS);
    const [place, notices] = await Promise.all([
      name === undefined ? undefined : placeOf(person, name, object),
      store.notices(person.id, soon),
    ]);
    return { organization: place?.organization, allowed: place?.allowed ?? [], notices };
  };

  async function placeOf(person: Person, name: string, object: ObjectRef | undefined) {
    const found = await organizationNamed(name);
    if (!found || !(person.isAdmin || person.organizations.has(found.id))) return undefined;
    const objects = [{ type: 'organization', id: found.id } as const, ...(object ? [object] : [])];
    const relations = await judge.allowed(person.id, found.id, objects);
    return {
      organization: await organizations.get(found.id),
      allowed: objects.map((one, at) => ({ object: one, relations: relations[at] ?? [] })),
    };
  }
}
