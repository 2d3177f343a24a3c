import { AppError } from '../base/errors.ts';
import type { Page, PageRequest } from '../base/page.ts';
import type { Actor } from '../changes/audit-entry.ts';
import type { Once } from '../changes/write.ts';
import type { NameConflict } from '../identity/account-names/account-names.ts';
import { type Person, passwordsOff } from '../identity/callers.ts';
import { hashNewPassword } from '../identity/passwords/new-password.ts';
import { onHold } from './erasure/erasure.ts';
import type { Profile } from './profile.ts';
import { addressTaken, nameUnavailable, requireAddressField, requireNameField } from './user-fields.ts';

export interface NewUser {
  readonly name: string;
  readonly email: string;
  readonly fullName?: string | undefined;
  readonly password?: string | undefined;
  readonly isAdmin?: boolean | undefined;
  readonly active?: boolean | undefined;
  readonly prohibitLogin?: boolean | undefined;
}

export interface UserDraft {
  readonly name: string;
  readonly fullName: string;
  readonly email: string;
  /** By default, the address counts as verified: the creator of the user vouches for it. */
  readonly isVerified?: boolean;
  readonly passwordHash: string | null;
  readonly isAdmin: boolean;
  readonly active: boolean;
  readonly prohibitLogin: boolean;
}

/** What a site administrator can change about a user. */
export interface UserFields {
  readonly fullName: string;
  readonly email: string;
  readonly language: string;
  readonly description: string;
  readonly website: string;
  readonly location: string;
  readonly isAdmin: boolean;
  readonly active: boolean;
  readonly prohibitLogin: boolean;
}

/** What users can change about themselves. */
export type OwnFields = Pick<UserInput, 'fullName' | 'language' | 'description' | 'website' | 'location'>;

export interface StoredUser extends UserFields {
  readonly id: bigint;
  readonly name: string;
  readonly version: number;
}

/** A field that is left out stays as it is. */
export type UserInput = { readonly [Key in keyof UserFields]?: UserFields[Key] | undefined } & {
  readonly password?: string | undefined;
};

export interface UserUpdate extends UserFields {
  /** A new password; undefined keeps the present one. */
  readonly passwordHash: string | undefined;
  /** The address was named, so it counts as verified, also if it is the present one. */
  readonly confirmsEmail: boolean;
}

/** Everything about a user, and the version for preconditions. */
export interface VersionedPerson {
  readonly person: Person;
  readonly version: number;
}

/** `active` can sign in, `inactive` and `prohibited` cannot; `admin` is every site administrator, also an inactive one. */
export const USER_STATES = ['active', 'inactive', 'prohibited', 'admin'] as const;
export type UserState = (typeof USER_STATES)[number];

/** With `orphans`, organizations whose last owner it is are left to the site administrators. */
export interface Removal {
  readonly orphans: boolean;
  /** What identifies the person in the audit log is erased, too. */
  readonly erases: boolean;
  /** It has happened before, in what a backup does not know: the last administrator goes, too. */
  readonly isRestore?: boolean;
}

export interface UserStore {
  profile(name: string): Promise<Profile | undefined>;
  person(name: string): Promise<VersionedPerson | undefined>;
  /** The users whose name or full name contains the text, ordered by ID. */
  profiles(text: string, request: PageRequest): Promise<Page<Profile>>;
  /** The user with this ID, if the name or full name contains the text. */
  profileWithId(id: bigint, text: string): Promise<Profile | undefined>;
  /** The same, but also searches addresses, and only users in that state. */
  people(text: string, state: UserState | undefined, request: PageRequest): Promise<Page<Person>>;
  anyAccount(): Promise<boolean>;
  create(draft: UserDraft, actor?: Actor, once?: Once<VersionedPerson>): Promise<bigint | NameConflict | 'email taken'>;
  setLastLogin(id: bigint, at: Date): Promise<void>;
  /** `decide` sees the user as they are while no other request can change them. */
  update(
    id: bigint,
    decide: (current: StoredUser) => UserUpdate,
    actor: Actor,
  ): Promise<'done' | 'email taken' | 'last administrator' | undefined>;
  /** Only an audit entry. */
  recordView(id: bigint, name: string, actor: Actor): Promise<void>;
  remove(
    id: bigint,
    decide: (current: StoredUser) => void,
    actor: Actor,
    how: Removal,
  ): Promise<'done' | 'held' | 'last administrator' | { readonly lastOwnerOf: readonly string[] } | undefined>;
}

/** Throws if a user is not as the caller last saw them. */
type Precondition = (current: { readonly id: bigint; readonly version: number }) => void;

export type Users = ReturnType<typeof createUsers>;

/** Users, as every caller can look them up and as site administrators manage them. */
export function createUsers(store: UserStore, hasPasswords = true) {
  return {
    search,
    list: store.people,
    profile,
    person,
    idOf,
    create,
    update,
    updateOwn: (name: string, fields: OwnFields, precondition: Precondition, actor: Actor) =>
      update(name, fields, precondition, actor),
    remove,
    viewAs,
    anyAccount: () => store.anyAccount(),
    signedIn: (id: bigint, at: Date) => store.setLastLogin(id, at),
  };

  /** With an ID, the list has at most that one user. */
  async function search(text: string, request: PageRequest, id?: bigint): Promise<Page<Profile>> {
    if (id === undefined) return await store.profiles(text, request);
    const found = await store.profileWithId(id, text);
    const all = found === undefined ? [] : [found];
    return { items: request.offset === 0 ? all : [], total: all.length };
  }

  async function profile(name: string): Promise<Profile> {
    const found = await store.profile(name);
    if (!found) throw noUser();
    return found;
  }

  /** With everything about them: for themselves and for site administrators. */
  async function person(name: string): Promise<VersionedPerson> {
    const found = await store.person(name);
    if (!found) throw noUser();
    return found;
  }

  async function idOf(name: string): Promise<bigint> {
    return (await profile(name)).id;
  }

  async function create(user: NewUser, actor?: Actor, once?: Once<VersionedPerson>): Promise<bigint> {
    if (!hasPasswords && actor && user.password !== undefined) throw passwordsOff();
    requireNameField(user.name);
    requireAddressField(user.email);
    const draft = {
      name: user.name,
      fullName: user.fullName ?? '',
      email: user.email,
      passwordHash: user.password === undefined ? null : await hashNewPassword(user.password),
      isAdmin: user.isAdmin ?? false,
      active: user.active ?? true,
      prohibitLogin: user.prohibitLogin ?? false,
    };
    const outcome = await store.create(draft, actor, once);
    if (outcome === 'email taken') throw addressTaken(user.email);
    if (typeof outcome === 'string') throw nameUnavailable(user.name, outcome);
    return outcome;
  }

  async function update(name: string, input: UserInput, precondition: Precondition, actor: Actor): Promise<void> {
    const { password, ...fields } = input;
    if (!hasPasswords && password !== undefined) throw passwordsOff();
    const id = await idOf(name);
    if (fields.email !== undefined) requireAddressField(fields.email);
    const passwordHash = password === undefined ? undefined : await hashNewPassword(password);
    const decide = (current: StoredUser): UserUpdate => {
      precondition(current);
      return { ...merged(current, fields), passwordHash, confirmsEmail: fields.email !== undefined };
    };
    const outcome = await store.update(id, decide, actor);
    if (outcome === undefined) throw noUser();
    if (outcome === 'email taken') throw addressTaken(input.email ?? '');
    if (outcome === 'last administrator') throw lastAdministrator();
  }

  async function remove(name: string, precondition: Precondition, actor: Actor, how: Removal): Promise<void> {
    const id = await idOf(name);
    if (id === actor.id)
      throw new AppError('conflict', 'you cannot delete your own account: ask another administrator');
    const outcome = await store.remove(id, precondition, actor, how);
    if (outcome === undefined) throw noUser();
    if (outcome === 'last administrator') throw lastAdministrator();
    if (outcome === 'held') throw onHold();
    if (outcome !== 'done') {
      const names = outcome.lastOwnerOf.join(', ');
      const advice = 'make another user an owner first, or pass orphan=true to leave them to the site administrators';
      throw new AppError('conflict', `the last owner of an organization cannot be deleted: ${names}; ${advice}`, {
        reason: 'last_owner',
      });
    }
  }

  /** Records that an administrator begins to see what another user sees. Requests then use `sudo`, as any may. */
  async function viewAs(name: string, actor: Actor): Promise<void> {
    const { id, login, active, prohibitLogin } = (await person(name)).person;
    if (!active || prohibitLogin) {
      throw new AppError('conflict', `${login} cannot sign in, so there is nothing that they see`);
    }
    await store.recordView(id, login, actor);
  }
}

function merged(current: UserFields, input: Omit<UserInput, 'password'>): UserFields {
  return {
    fullName: input.fullName ?? current.fullName,
    email: input.email ?? current.email,
    language: input.language ?? current.language,
    description: input.description ?? current.description,
    website: input.website ?? current.website,
    location: input.location ?? current.location,
    isAdmin: input.isAdmin ?? current.isAdmin,
    active: input.active ?? current.active,
    prohibitLogin: input.prohibitLogin ?? current.prohibitLogin,
  };
}

function noUser(): AppError {
  return new AppError('notFound', 'user does not exist', { reason: 'user_not_found' });
}

function lastAdministrator(): AppError {
  return new AppError('conflict', 'the last active site administrator cannot be deleted, deactivated or demoted', {
    reason: 'last_administrator',
  });
}
