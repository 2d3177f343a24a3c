import type { Judge } from '../authz/judge.ts';
import type { ObjectRef } from '../authz/object-ref.ts';
import { AppError } from '../base/errors.ts';
import { createYielder } from '../base/scheduling/slices.ts';
import {
  OBJECT_KINDS,
  type OwnedType,
  type PluralOf,
  SEARCHED_TYPES,
  type SearchedType,
} from '../changes/object-kinds.ts';
import type { Organization } from '../identity/callers.ts';
import { type ScopeArea, scopesAllow } from '../identity/scopes.ts';
import type { MaybeLimits, TokenLimits } from '../identity/tokens/token-limits.ts';

/** What can be found, in the order in which it is shown. */
export const LISTED = SEARCHED_TYPES.map((type) => OBJECT_KINDS[type].plural);
export type Listed = PluralOf<SearchedType>;

export type SearchType = Listed | 'installers';
export const SEARCH_TYPES: readonly SearchType[] = [...LISTED, 'installers'];

export interface Found {
  readonly id: bigint;
  readonly name: string;
  /** Also searched: the full name of a person or an organization, the display name of a cluster. Empty if there is none. */
  readonly title: string;
  /** The organization that it belongs to; null for what is in none, and for what a user owns. */
  readonly organization: string | null;
}

export interface FoundInstaller {
  readonly id: string;
  readonly marketplace: string;
  readonly organization: string | null;
}

export interface SearchResult extends Readonly<Record<Listed, readonly Found[]>> {
  readonly installers: readonly FoundInstaller[];
}

/** Where to look for one type. */
export interface SearchPlace {
  /** Accounts of which the caller may see every object of the type. */
  readonly owners: readonly bigint[];
  /** Single objects that the caller may see elsewhere. */
  readonly ids: readonly bigint[];
  /** A site administrator sees those of all organizations. */
  readonly isEverywhere: boolean;
}

export interface SearchStore {
  find(type: Listed, text: string, place: SearchPlace, most: number): Promise<Found[]>;
  findInstallers(text: string, most: number): Promise<FoundInstaller[]>;
}

export interface Searcher {
  readonly person: {
    readonly id: bigint;
    readonly isAdmin: boolean;
    readonly organizations: Pick<ReadonlyMap<bigint, unknown>, 'has' | 'keys' | 'size'>;
  };
  readonly scopes: readonly string[];
  /** What the token is limited to: then the person is in no other organization. */
  readonly limits?: MaybeLimits;
}

export interface SearchQuestion {
  readonly text: string;
  /** Look only there. */
  readonly organization: Organization | undefined;
  readonly types: ReadonlySet<SearchType>;
}

export type Search = ReturnType<typeof createSearch>;

export const MAX_FOUND = 8;
export const MAX_TEXT = 64;
/** Each needs its own answer from the judge. */
const MAX_ORGANIZATIONS = 200;

interface Rule {
  readonly area: ScopeArea;
  /** Users who hold this on an organization may see every object of the type there. */
  readonly all: string;
  /** What tokens can be limited to single objects of. */
  readonly kind?: OwnedType;
  /** Members see single objects of it, whatever they may see of the organization. */
  readonly single?: ObjectRef['type'];
  /** Users own such objects, too. */
  readonly isPersonal: boolean;
}

const RULES = Object.fromEntries(
  SEARCHED_TYPES.map((type) => {
    const { plural, area, viewAll, isAddressed, isSeenSingly, isPersonal } = OBJECT_KINDS[type];
    const kind = isAddressed && { kind: type as OwnedType };
    return [plural, { area, all: viewAll, ...kind, ...(isSeenSingly && { single: type }), isPersonal }];
  }),
) as Readonly<Record<Listed, Rule>>;
const NOWHERE: SearchPlace = { owners: [], ids: [], isEverywhere: false };

/**
 * Finds what the caller may see by a part of its name. Where to look is decided first, by the judge, so that what the
 * caller may not see is never even compared with the text.
 */
export function createSearch(store: SearchStore, judge: Pick<Judge, 'allowed' | 'objects' | 'holds'>) {
  return async (searcher: Searcher, { text, organization, types }: SearchQuestion): Promise<SearchResult> => {
    const wanted = text.trim();
    if (wanted === '' || wanted.length > MAX_TEXT) {
      throw new AppError('invalid', `query parameter q must have 1 to ${MAX_TEXT} characters`);
    }
    const mayRead = (area: ScopeArea) => scopesAllow(searcher.scopes, `read:${area}`);
    const listed = LISTED.filter((type) => types.has(type) && mayRead(RULES[type].area));
    const places = await placesFor(searcher, organization, listed);
    const find = async (type: Listed) => {
      const place = places.get(type) ?? NOWHERE;
      const isNowhere = !place.isEverywhere && place.owners.length === 0 && place.ids.length === 0;
      return isNowhere ? [] : await store.find(type, wanted, place, MAX_FOUND);
    };
    const isAdmin = searcher.person.isAdmin && organization === undefined && mayRead('admin');
    // One after the other: a search takes one connection to the database, however much it looks for.
    const found: Partial<Record<Listed, readonly Found[]>> = {};
    for (const type of LISTED) found[type] = await find(type);
    const installers = isAdmin && types.has('installers') ? await store.findInstallers(wanted, MAX_FOUND) : [];
    return { ...(found as Record<Listed, readonly Found[]>), installers };
  };

  /** Of the single objects that a token is limited to, those that its owner may see. */
  async function seenOf(personId: bigint, type: OwnedType, limits: TokenLimits): Promise<bigint[]> {
    const seen: bigint[] = [];
    for (const { id, ownerId } of limits.objects.filter((one) => one.type === type)) {
      if (await judge.holds(personId, ownerId, 'can_view', { type, id })) seen.push(id);
    }
    return seen;
  }

  async function placesFor(
    { person, limits }: Searcher,
    organization: Organization | undefined,
    types: readonly Listed[],
  ): Promise<Map<SearchType, SearchPlace>> {
    const owners = new Map(types.map((type) => [type, [] as bigint[]]));
    const ids = new Map(types.map((type) => [type, [] as bigint[]]));
    const isEverywhere = person.isAdmin && organization === undefined;
    if (!isEverywhere && !organization && person.organizations.size > MAX_ORGANIZATIONS) {
      const why = `you are in more than ${MAX_ORGANIZATIONS} organizations`;
      throw new AppError('invalid', `query parameter org is required, because ${why}`);
    }
    const yieldIfDue = createYielder();
    for (const id of isEverywhere ? [] : organization ? [organization.id] : person.organizations.keys()) {
      const [held = []] = await judge.allowed(person.id, id, [{ type: 'organization', id }]);
      for (const type of types) {
        const { all, single } = RULES[type];
        if (held.includes(all)) owners.get(type)?.push(id);
        else if (single) ids.get(type)?.push(...(await judge.objects(person.id, id, 'can_view', single)));
      }
      await yieldIfDue();
    }
    if (organization === undefined && limits) {
      for (const type of types) {
        const { kind } = RULES[type];
        if (kind) ids.get(type)?.push(...(await seenOf(person.id, kind, limits)));
      }
    } else if (organization === undefined) {
      for (const type of types) if (RULES[type].isPersonal) owners.get(type)?.push(person.id);
      ids.get('people')?.push(person.id);
    }
    return new Map(
      types.map((type) => [type, { owners: owners.get(type) ?? [], ids: ids.get(type) ?? [], isEverywhere }]),
    );
  }
}
