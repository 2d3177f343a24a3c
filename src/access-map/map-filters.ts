import type { AssignmentFilter, Reference } from '../assignments/assignment.ts';
import type { PlaceType, PrincipalType } from '../changes/object-kinds.ts';
import type { MapQuestion } from './access-map.ts';

interface Found {
  readonly id?: bigint | undefined;
}

/** What assignments name, by ID or by name. */
interface References {
  role(organizationId: bigint, named: NonNullable<AssignmentFilter['role']>): Promise<Found | undefined>;
  principal(organizationId: bigint, named: Reference<PrincipalType>, mustAgree: boolean): Promise<Found | undefined>;
  place(organizationId: bigint, named: Reference<PlaceType>): Promise<Found | undefined>;
}

export type MapFilters = ReturnType<typeof createMapFilters>;

/** No object has it, so a map of it is empty: like one of what the caller may not see. */
const UNKNOWN = 0n;

/** What the filters of a map name, as the engine calls it. */
export function createMapFilters({ role, principal, place }: References) {
  return async (
    organizationId: bigint,
    asked: Pick<AssignmentFilter, 'to' | 'role' | 'on'>,
  ): Promise<Pick<MapQuestion, 'to' | 'role' | 'on'>> => {
    const to = asked.to && (await principal(organizationId, asked.to, false));
    const ofRole = asked.role && (await role(organizationId, asked.role));
    const on = asked.on && (await place(organizationId, asked.on));
    return {
      to: asked.to && `${asked.to.type}:${to?.id ?? UNKNOWN}`,
      role: asked.role && `role:${ofRole?.id ?? UNKNOWN}`,
      on: asked.on && `${asked.on.type}:${on?.id ?? UNKNOWN}`,
    };
  };
}
