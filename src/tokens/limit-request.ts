import type { ObjectRef } from '../authz/object-ref.ts';
import { invalidField } from '../base/errors.ts';
import type { OwnedType } from '../changes/object-kinds.ts';
import type { Organization, Person } from '../identity/callers.ts';
import type { LimitObject, LimitOrganization, MaybeLimits } from '../identity/tokens/token-limits.ts';

/** What a new token is to be limited to, as the request says it. */
export interface WantedLimits {
  readonly organizations: readonly string[];
  readonly objects: readonly { readonly type: OwnedType; readonly id: bigint }[];
}

interface Sources {
  organizationNamed(name: string): Promise<Organization | undefined>;
  /** The account that owns an object, if it exists. */
  ownerOf(type: OwnedType, id: bigint): Promise<bigint | undefined>;
  holds(personId: bigint, accountId: bigint, relation: string, object: ObjectRef): Promise<boolean>;
  /** The names of objects such as `team:4`. */
  names(objects: readonly string[]): Promise<ReadonlyMap<string, string>>;
}

/** Each entry is compared on every request with the token. */
export const MAX_LIMITS = 100;

export type LimitReader = ReturnType<typeof createLimitReader>;

/**
 * Limits are stored by ID. A user who creates a token can name what they can see: anything else does not exist for
 * them. A token gets no rights by its limits, so it does not matter whether its owner can see it, too.
 */
export function createLimitReader(sources: Sources) {
  return { read };

  /** `robotOwner` is the organization whose robot gets the token: it reaches nothing else anyway. */
  async function read(
    person: Pick<Person, 'id' | 'isAdmin' | 'organizations'>,
    wanted: WantedLimits | undefined,
    robotOwner?: bigint,
  ): Promise<MaybeLimits> {
    if (wanted === undefined) return undefined;
    const count = wanted.organizations.length + wanted.objects.length;
    if (count === 0) throw invalidField('limits', 'limits must name an organization or an object');
    if (count > MAX_LIMITS) throw invalidField('limits', `limits must name at most ${MAX_LIMITS} things`);
    const organizations = new Map<bigint, LimitOrganization>();
    for (const name of wanted.organizations) {
      const found = await sources.organizationNamed(name);
      const isSeen = found && (person.isAdmin || person.organizations.has(found.id));
      if (!isSeen || (robotOwner ?? found.id) !== found.id) {
        const message = `organization does not exist, or the token cannot reach it: ${name.slice(0, 60)}`;
        throw invalidField('limits.organizations', message, 'organization_not_found');
      }
      organizations.set(found.id, { id: found.id, name: found.name });
    }
    const objects = new Map<string, Omit<LimitObject, 'name'>>();
    for (const { type, id } of wanted.objects) {
      const ownerId = await sources.ownerOf(type, id);
      const isOurs = ownerId !== undefined && (robotOwner ?? ownerId) === ownerId;
      if (!isOurs || !(await sources.holds(person.id, ownerId, 'can_view', { type, id }))) {
        throw invalidField('limits.objects', `${type} does not exist, or the token cannot reach it: ${id}`);
      }
      objects.set(`${type}:${id}`, { type, id, ownerId });
    }
    const names = await sources.names([...objects.keys()]);
    return {
      organizations: [...organizations.values()],
      objects: [...objects].map(([text, object]) => ({ ...object, name: names.get(text) ?? '' })),
    };
  }
}
