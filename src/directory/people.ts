import { AppError } from '../errors.ts';
import { isAddress } from './addresses.ts';
import type { Actor } from './audit.ts';
import { judgeName } from './names.ts';
import { hashPassword } from './passwords.ts';

export interface NewPerson {
  readonly name: string;
  readonly email: string;
  readonly fullName?: string | undefined;
  readonly password?: string | undefined;
  readonly isAdmin?: boolean | undefined;
  readonly active?: boolean | undefined;
  readonly prohibitLogin?: boolean | undefined;
}

export interface PersonDraft {
  readonly name: string;
  readonly fullName: string;
  readonly email: string;
  readonly passwordHash: string | null;
  readonly isAdmin: boolean;
  readonly active: boolean;
  readonly prohibitLogin: boolean;
}

export interface PeopleStore {
  create(draft: PersonDraft, actor?: Actor): Promise<bigint | 'name taken' | 'email taken'>;
  setActive(id: bigint, active: boolean): Promise<boolean>;
  setLastLogin(id: bigint, at: Date): Promise<void>;
  anyAccount(): Promise<boolean>;
}

export type People = ReturnType<typeof createPeople>;

const LEAST_PASSWORD = 8;
const MOST_PASSWORD = 255;

export function createPeople(store: PeopleStore) {
  return { create, setActive, signedIn, anyAccount: () => store.anyAccount() };

  async function create(person: NewPerson, actor?: Actor): Promise<bigint> {
    requireName(person.name);
    requireAddress(person.email);
    const draft = {
      name: person.name,
      fullName: person.fullName ?? '',
      email: person.email,
      passwordHash: person.password === undefined ? null : await hashNewPassword(person.password),
      isAdmin: person.isAdmin ?? false,
      active: person.active ?? true,
      prohibitLogin: person.prohibitLogin ?? false,
    };
    const made = await store.create(draft, actor);
    if (made === 'name taken') throw nameTaken(person.name);
    if (made === 'email taken') throw addressTaken(person.email);
    return made;
  }

  async function setActive(id: bigint, active: boolean): Promise<void> {
    if (!(await store.setActive(id, active))) throw new AppError('notFound', 'user does not exist');
  }

  async function signedIn(id: bigint, at: Date): Promise<void> {
    await store.setLastLogin(id, at);
  }
}

/** The one rule for names of people and organizations, as a refusal. */
export function requireName(name: string): void {
  const verdict = judgeName(name);
  if (verdict === 'RESERVED') throw fault('username', `name is reserved: ${name}`);
  if (verdict === 'INVALID') {
    throw fault(
      'username',
      'name must be 1 to 40 letters, digits, "-", "_" or ".", start with a letter or digit, and have no two punctuation marks in a row nor one at the end',
    );
  }
}

/** Long enough to withstand guessing, short enough to be hashed quickly. */
export async function hashNewPassword(password: string): Promise<string> {
  const length = [...password].length;
  if (length < LEAST_PASSWORD || length > MOST_PASSWORD) {
    throw fault('password', `password must have ${LEAST_PASSWORD} to ${MOST_PASSWORD} characters`);
  }
  return await hashPassword(password);
}

export function requireAddress(address: string): void {
  if (!isAddress(address)) throw fault('email', `email address ${JSON.stringify(address)} is invalid`);
}

export function addressTaken(address: string): AppError {
  return fault('email', `email address is in use: ${address}`);
}

export function nameTaken(name: string): AppError {
  return fault('username', `name is taken: ${name}`);
}

function fault(field: string, message: string): AppError {
  return new AppError('malformed', message, { errors: [{ field, message }] });
}
