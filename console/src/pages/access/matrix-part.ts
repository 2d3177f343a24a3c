import { OBJECT_KINDS } from '../../../../client/object-kinds.gen.ts';
import { ADDRESSED_TYPES } from '../../../../client/object-kinds.ts';
import { useSettled } from '../../data/filters.ts';
import { useList } from '../../data/resource.ts';

const MAX_CLUSTERS = 200;
const MAX_ELSE = 50;

export interface ObjectPart {
  /** The objects to ask about; undefined for all. */
  readonly ids: readonly bigint[] | undefined;
  readonly total: number;
  readonly isLoading: boolean;
}

/** The objects of a type that are searched for. Without a search, the server knows which ones to show. */
export function useObjectPart(org: string, type: string, text: string): ObjectPart {
  const wanted = useSettled(text.trim());
  const addressed = ADDRESSED_TYPES.find((one) => one === type);
  const isAsked = addressed !== undefined && wanted !== '';
  const list = isAsked ? (`GET /orgs/{org}/${OBJECT_KINDS[addressed].plural}` as const) : undefined;
  const query = type === 'cluster' ? { q: wanted, sort: 'name' as const, limit: MAX_CLUSTERS } : { limit: MAX_ELSE };
  const found = useList(list as 'GET /orgs/{org}/clusters' | undefined, { path: { org }, query });
  return {
    ids: isAsked ? found.data?.map(({ id }) => id) : undefined,
    total: found.total ?? found.data?.length ?? 0,
    isLoading: isAsked && found.data === undefined && found.error === undefined,
  };
}
