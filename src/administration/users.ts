import type { Actor } from '../directory/audit.ts';
import type { Person } from '../directory/callers.ts';
import type { Listed, Slice } from '../directory/listed.ts';
import type { NewPerson, People } from '../directory/people.ts';
import { type DossierInput, noPerson, type Personnel } from '../directory/personnel.ts';
import type { Profile } from '../directory/profile.ts';
import { AppError } from '../errors.ts';

export interface NumberedPerson {
  readonly person: Person;
  readonly version: number;
}

export interface UserReads {
  profile(name: string): Promise<Profile | undefined>;
  person(name: string): Promise<NumberedPerson | undefined>;
  /** By id; those whose name or full name holds the text. */
  profiles(text: string, slice: Slice): Promise<Listed<Profile>>;
  /** By id; their addresses are searched too. */
  people(text: string, slice: Slice): Promise<Listed<Person>>;
}

type Unchanged = (current: { readonly id: bigint; readonly version: number }) => void;

export type UserRegister = ReturnType<typeof createUserRegister>;

/** People, as everybody may look them up, and as site administrators deal with them. */
export function createUserRegister(reads: UserReads, people: Pick<People, 'create'>, personnel: Personnel) {
  return { search: reads.profiles, list: reads.people, profile, person, idOf, create, update, remove };

  async function profile(name: string): Promise<Profile> {
    const found = await reads.profile(name);
    if (!found) throw noPerson();
    return found;
  }

  /** With everything about them: for themselves and for site administrators. */
  async function person(name: string): Promise<NumberedPerson> {
    const found = await reads.person(name);
    if (!found) throw noPerson();
    return found;
  }

  async function idOf(name: string): Promise<bigint> {
    return (await profile(name)).id;
  }

  async function create(wish: NewPerson, actor: Actor): Promise<NumberedPerson> {
    await people.create(wish, actor);
    return await person(wish.name);
  }

  async function update(
    name: string,
    input: DossierInput,
    unchanged: Unchanged,
    actor: Actor,
  ): Promise<NumberedPerson> {
    await personnel.update(await idOf(name), input, unchanged, actor);
    return await person(name);
  }

  async function remove(name: string, unchanged: Unchanged, actor: Actor): Promise<void> {
    const id = await idOf(name);
    if (id === actor.id) throw new AppError('conflict', 'you cannot delete yourself: another administrator can');
    await personnel.remove(id, unchanged, actor);
  }
}
