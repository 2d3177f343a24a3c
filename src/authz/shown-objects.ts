import { OBJECT_KINDS, type OwnedType } from '../changes/object-kinds.ts';
import { type MaybeLimits, shownIds } from '../identity/tokens/token-limits.ts';
import type { Judge } from './judge.ts';

/** Who asks for a list, and how far their token reaches. */
export interface ListReader {
  readonly person: { readonly id: bigint };
  readonly limits?: MaybeLimits;
}

export type ShownObjects = ReturnType<typeof createShownObjects>;

/**
 * Which objects of an organization a list may show to a caller, by ID; undefined for all of them. Callers who may not
 * see every object of the type may see single ones, on which they have a role.
 */
export function createShownObjects(judge: Pick<Judge, 'holds' | 'objects'>) {
  return async (reader: ListReader, organizationId: bigint, type: OwnedType): Promise<bigint[] | undefined> => {
    const { person, limits } = reader;
    const reached = shownIds(limits, type, organizationId);
    const organization = { type: 'organization', id: organizationId } as const;
    if (await judge.holds(person.id, organizationId, OBJECT_KINDS[type].viewAll, organization)) return reached;
    const seen = await judge.objects(person.id, organizationId, 'can_view', type);
    const among = reached && new Set(reached);
    return among ? seen.filter((id) => among.has(id)) : seen;
  };
}
