import Type from 'typebox';
import { PLACE_TYPES } from '../../changes/object-kinds.ts';
import { MaybeInt64, named } from '../../http/wire/schemas.ts';
import { HIDDEN } from '../explain/hidden-objects.ts';
import type { Place } from './places.ts';

const says = (description: string) => ({ description });
export const PlaceResponse = named(
  'AssignmentPlace',
  Type.Object(
    {
      type: Type.String({ enum: [...PLACE_TYPES], ...says('What it is.') }),
      id: MaybeInt64,
      name: Type.String(says('Its name, or (hidden) if the caller may not see it.')),
      clusters: Type.Optional(Type.Integer(says('Of a cluster set: how many clusters are in it now.'))),
    },
    says('On what the role is assigned. A cluster set has a name and no ID.'),
  ),
);

interface ShownPlace extends Place {
  readonly name: string;
  /** Of a set: how many clusters are in it. */
  readonly clusters?: number | undefined;
}

/** What the reader may not see has no ID and no name. */
export function presentPlace({ type, id, name, clusters }: ShownPlace, isHidden: boolean) {
  if (isHidden) return { type, id: null, name: HIDDEN };
  if (type === 'cluster_set') return { type, id: null, name, ...(clusters !== undefined && { clusters }) };
  return { type, id: id ?? null, name };
}
