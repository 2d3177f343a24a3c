import type { Item } from '../../../../client/client.ts';
import { ApiError } from '../../../../client/errors.ts';
import { useList, useResource } from '../../data/resource.ts';
import { me } from '../../data/session.ts';

type Listed = Item<'GET /orgs/{org}/members'>;
export type Member = Pick<
  Listed,
  'id' | 'login' | 'full_name' | 'email' | 'avatar_url' | 'location' | 'website' | 'teams'
> &
  Partial<Pick<Listed, 'joined_at' | 'managed_by_scim' | (typeof WORK)[number]>>;

const WORK = ['title', 'department', 'employee_number', 'cost_center', 'manager', 'manager_name'] as const;

interface LoadedMember {
  /** `found` is undefined if no member has that name. */
  readonly data: { readonly found: Member | undefined } | undefined;
  readonly error: unknown;
  readonly isStale: boolean;
  readonly reload: () => void;
}

/** One member with their teams. Oneself, also without the permission to see the other members. */
export function useMember(org: string, login: string): LoadedMember {
  const isMe = login === me.value?.login;
  // A longer name may contain this one, so the exact one is picked; by name, the exact one comes first of its kind.
  const list = useList('GET /orgs/{org}/members', { path: { org }, query: { q: login, sort: 'name', limit: 50 } });
  const listed = list.data?.find((one) => one.login.toLowerCase() === login.toLowerCase());
  const isRefused = list.error instanceof ApiError && list.error.status === 403;
  const mine = useResource(isMe && isRefused ? 'GET /user/teams' : undefined, { query: { limit: 50 } });
  if (isMe && isRefused && me.value && mine.data) {
    const teams = mine.data.filter(({ organization }) => organization.name === org);
    const found = teams.length > 0 ? { ...me.value, teams } : undefined;
    return { data: { found }, error: undefined, isStale: mine.isStale, reload: mine.reload };
  }
  const { error, isStale, reload } = list;
  const isWaiting = isMe && isRefused && mine.error === undefined;
  return { data: list.data && { found: listed }, error: isWaiting ? undefined : error, isStale, reload };
}
