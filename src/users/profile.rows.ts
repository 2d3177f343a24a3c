import type { Profile } from './profile.ts';

export interface ProfileRow {
  id: bigint;
  kind: Profile['kind'];
  name: string;
  full_name: string;
  email: string | null;
  location: string;
  website: string;
  description: string;
  created_at: Date;
  org_admin: boolean;
  active: boolean;
  last_login_at: Date | null;
}

/**
 * The columns of an account `a` and its primary address `e`. Select them for one page, not for everything that is paged
 * through. With `exists`, the planner might collect the administrators of all organizations first.
 */
export const PROFILE = `a.id, a.kind, a.name, a.full_name, e.address as email, a.location, a.website, a.description, a.created_at, a.active,
  a.last_login_at,
  coalesce((select true from team_member tm join team t on t.id = tm.team_id
             where tm.account_id = a.id and t.permission in ('owner', 'admin') limit 1), false) as org_admin`;

export function toProfile(row: ProfileRow): Profile {
  const { id, kind, name, full_name, email, location, website, description, created_at, org_admin } = row;
  const plain = { id, kind, login: name, location, website, description };
  const status = { active: row.active, lastLoginAt: row.last_login_at };
  return { ...plain, ...status, fullName: full_name, email: email ?? '', createdAt: created_at, orgAdmin: org_admin };
}
