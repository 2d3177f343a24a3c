import Type, { type Static } from 'typebox';
import { type Caller, seesAsAdmin, seesAsSelf } from '../http/admission/access.ts';
import { Int64, Line, named, Text, Timestamp, timestamp, Website } from '../http/wire/schemas.ts';
import type { Person, RobotIdentity } from '../identity/callers.ts';
import type { Profile } from './profile.ts';

const Language = Type.String({
  pattern: '^([A-Za-z]{2,8}(-[A-Za-z0-9]{1,8}){0,4})?$',
  description: 'A language tag such as en or de-CH, or empty.',
});

/** A user as clients of this API family know it: every key is always present. */
export const USER_FIELDS = {
  id: Int64,
  login: Type.String(),
  username: Type.String(),
  full_name: Type.String(),
  email: Type.String(),
  avatar_url: Type.String(),
  language: Type.String(),
  is_admin: Type.Boolean(),
  last_login: Timestamp,
  created: Timestamp,
  type: Type.Integer({ enum: [0, 1, 4], description: '0 for a user, 1 for an organization, 4 for a robot.' }),
  active: Type.Boolean(),
  prohibit_login: Type.Boolean(),
  location: Type.String(),
  website: Type.String(),
  description: Type.String(),
  orgAdmin: Type.Boolean(),
  clientOrgUser: Type.Optional(Type.Boolean()),
};
export const User = named(
  'User',
  Type.Object({
    ...USER_FIELDS,
    organization: Type.Optional(
      Type.Object(
        {
          type: Type.String({ enum: ['organization'], description: 'Always organization.' }),
          id: Int64,
          name: Type.String({ description: 'The name of the organization.' }),
        },
        { description: 'Only for a robot: the organization that it works for.' },
      ),
    ),
  }),
);

/** A user in a list of people whom the caller knows. What the caller may not see is absent, not a zero value. */
export const ListedUser = named(
  'ListedUser',
  Type.Object({
    ...USER_FIELDS,
    last_login: Type.Optional(
      Type.Unsafe<string>({
        ...Timestamp,
        description: '1970-01-01T00:00:00Z if never. Absent if the caller may not see it.',
      }),
    ),
    active: Type.Optional(
      Type.Boolean({
        description: 'If false, all requests of the user are rejected. Absent if the caller may not see it.',
      }),
    ),
  }),
);

/** What users and site administrators can change. A field that is left out stays as it is. */
export const ProfileFields = {
  full_name: Type.Optional(Line(100)),
  language: Type.Optional(Language),
  location: Type.Optional(Text(100)),
  website: Type.Optional(Website),
  description: Type.Optional(Text(1000)),
};

export function readProfile(body: Static<Type.TObject<typeof ProfileFields>>) {
  const { full_name: fullName, language, location, website, description } = body;
  return { fullName, language, location, website, description };
}

/** How users see themselves. */
export function presentSelf(person: Person, baseUrl: string, checkClientOrg = false) {
  const permissions = [...person.organizations.values()];
  return {
    id: person.id,
    login: person.login,
    username: person.login,
    full_name: person.fullName,
    email: person.email,
    avatar_url: avatarUrl(person.login, baseUrl),
    language: person.language,
    is_admin: person.isAdmin,
    last_login: timestamp(person.lastLoginAt),
    created: timestamp(person.createdAt),
    type: 0,
    active: person.active,
    prohibit_login: person.prohibitLogin,
    location: person.location,
    website: person.website,
    description: person.description,
    orgAdmin: permissions.some((permission) => permission === 'owner' || permission === 'admin'),
    ...(checkClientOrg && { clientOrgUser: person.inClientOrganization }),
  };
}

/** How robots see themselves: with the keys of a user, and the organization that they work for. */
export function presentRobotSelf(person: Person, { id, organization }: RobotIdentity, baseUrl: string) {
  const { avatar_url: _avatar, ...shown } = presentSelf(person, baseUrl);
  return {
    ...shown,
    id,
    type: 4,
    avatar_url: avatarUrl(organization.name, baseUrl),
    organization: { type: 'organization', ...organization },
  };
}

/** How everyone else sees them in lists of followers: what concerns only the user stays at its zero value. */
export function presentProfile(profile: Profile, baseUrl: string) {
  return {
    id: profile.id,
    login: profile.login,
    username: profile.login,
    full_name: profile.fullName,
    email: profile.email,
    avatar_url: avatarUrl(profile.login, baseUrl),
    language: '',
    is_admin: false,
    last_login: timestamp(null),
    created: timestamp(profile.createdAt),
    type: profile.kind === 'organization' ? 1 : 0,
    active: false,
    prohibit_login: false,
    location: profile.location,
    website: profile.website,
    description: profile.description,
    orgAdmin: profile.orgAdmin,
  };
}

/**
 * The same in lists of members and of users. Whether an account is active, and when it was last used, is for callers who may
 * see the members of the organization, for site administrators, and for the users themselves.
 */
export function presentListed(profile: Profile, baseUrl: string, seesStatus: boolean) {
  const { active: _active, last_login: _lastLogin, ...shown } = presentProfile(profile, baseUrl);
  if (!seesStatus) return shown;
  return { ...shown, active: profile.active, last_login: timestamp(profile.lastLoginAt) };
}

/** A caller who knows a user's name may look that user up, but a list must not show all addresses. */
export function hideAddresses(profiles: readonly Profile[], caller: Caller): Profile[] {
  if (seesAsAdmin(caller)) return [...profiles];
  return profiles.map((profile) => (seesAsSelf(caller, profile.id) ? profile : { ...profile, email: '' }));
}

export function avatarUrl(login: string, baseUrl: string): string {
  return `${baseUrl}/avatars/${login}`;
}
