import type { Answer } from '../../../../client/client.ts';
import { Chip } from '../../parts/bits.tsx';

/** Site administrators always see whether a user is active. */
export type User = Answer<'GET /users/{username}'>;

export const STATES = [
  { value: '', label: 'All accounts' },
  { value: 'active', label: 'Can sign in' },
  { value: 'inactive', label: 'Deactivated' },
  { value: 'prohibited', label: 'Sign-in prohibited' },
  { value: 'admin', label: 'Site administrators' },
] as const;

export type UserState = 'active' | 'inactive' | 'prohibited' | 'admin';

/** An ordinary account needs no mark. */
export function UserChips({ user }: { user: Pick<User, 'active' | 'prohibit_login' | 'is_admin'> }) {
  return (
    <span class="line">
      {user.is_admin && <Chip tone="mark">site administrator</Chip>}
      {user.active === false && <Chip tone="warn">deactivated</Chip>}
      {user.prohibit_login && <Chip tone="warn">sign-in prohibited</Chip>}
    </span>
  );
}

export function adminUserPath(login: string): string {
  return `/admin/users/${encodeURIComponent(login)}`;
}
