import { AppError } from '../errors.ts';
import { isAddress } from './addresses.ts';
import { judgeName } from './names.ts';
import { hashPassword } from './passwords.ts';

export interface NewPerson {
  readonly name: string;
  readonly email: string;
  readonly fullName?: string;
  readonly password?: string;
  readonly isAdmin?: boolean;
  readonly active?: boolean;
  readonly prohibitLogin?: boolean;
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
  create(draft: PersonDraft): Promise<bigint | 'name taken' | 'email taken'>;
  setActive(id: bigint, active: boolean): Promise<boolean>;
  setLastLogin(id: bigint, at: Date): Promise<void>;
  anyAccount(): Promise<boolean>;
}

export type People = ReturnType<typeof createPeople>;

export function createPeople(store: PeopleStore) {
  return { create, setActive, signedIn, anyAccount: () => store.anyAccount() };

  async function create(person: NewPerson): Promise<bigint> {
    requireName(person.name);
    requireAddress(person.email);
    const made = await store.create({
      name: person.name,
      fullName: person.fullName ?? '',
      email: person.email,
      passwordHash: person.password === undefined ? null : await hashPassword(person.password),
      isAdmin: person.isAdmin ?? false,
      active: person.active ?? true,
      prohibitLogin: person.prohibitLogin ?? false,
    });
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
  if (verdict === 'RESERVED') throw fault('name', `name is reserved: ${name}`);
  if (verdict === 'INVALID') {
    throw fault(
      'name',
      'name must be 1 to 40 letters, digits, "-", "_" or ".", start with a letter or digit, and have no two punctuation marks in a row nor one at the end',
    );
  }
}

function requireAddress(address: string): void {
  if (!isAddress(address)) throw fault('email', `email address ${JSON.stringify(address)} is invalid`);
}

function addressTaken(address: string): AppError {
  return fault('email', `email address is in use: ${address}`);
}

export function nameTaken(name: string): AppError {
  return fault('name', `name is taken: ${name}`);
}

function fault(field: string, message: string): AppError {
  return new AppError('malformed', message, { errors: [{ field, message }] });
}
