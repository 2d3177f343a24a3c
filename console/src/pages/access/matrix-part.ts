import { useSignal } from '@preact/signals';
import { OBJECT_KINDS } from '../../../../client/object-kinds.gen.ts';
import { ADDRESSED_TYPES } from '../../../../client/object-kinds.ts';
import { unlessEmpty, useSettled } from '../../data/filters.ts';
import { useList } from '../../data/resource.ts';

const MAX_OBJECTS = 200;
const MAX_ELSE = 50;

export interface ObjectPart {
  /** Whether all objects were too many. */
  readonly isNeeded: boolean;
  readonly require: () => void;
  /** The objects to ask about; undefined for all. */
  readonly ids: readonly bigint[] | undefined;
  readonly total: number;
  readonly isLoading: boolean;
}

/** A part of the objects of a type: those that are searched for, or the first ones if all are too many. */
export function useObjectPart(org: string, type: string, text: string): ObjectPart {
  const needed = useSignal('');
  const isNeeded = needed.value === `${org} ${type}`;
  const wanted = useSettled(text);
  const addressed = ADDRESSED_TYPES.find((one) => one === type);
  const isAsked = addressed !== undefined && (isNeeded || wanted !== '');
  const list = isAsked ? (`GET /orgs/{org}/${OBJECT_KINDS[addressed].plural}` as const) : undefined;
  const query =
    type === 'cluster' ? { q: unlessEmpty(wanted), sort: 'name' as const, limit: MAX_OBJECTS } : { limit: MAX_ELSE };
  const found = useList(list as 'GET /orgs/{org}/clusters' | undefined, { path: { org }, query });
  return {
    isNeeded,
    require: () => {
      needed.value = `${org} ${type}`;
    },
    ids: isAsked ? found.data?.map(({ id }) => id) : undefined,
    total: found.total ?? found.data?.length ?? 0,
    isLoading: isAsked && found.data === undefined && found.error === undefined,
  };
}
