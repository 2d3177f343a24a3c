import { AppError } from '../errors.ts';
import type { Actor } from './audit.ts';
import { addressTaken, hashNewPassword, requireAddress } from './people.ts';

/** What those who run the house may say about a person. */
export interface Dossier {
  readonly fullName: string;
  readonly email: string;
  readonly description: string;
  readonly website: string;
  readonly location: string;
  readonly isAdmin: boolean;
  readonly active: boolean;
  readonly prohibitLogin: boolean;
}

export interface StoredDossier extends Dossier {
  readonly id: bigint;
  readonly name: string;
  readonly version: number;
}

/** What is left out stays as it is. */
export type DossierInput = { readonly [Key in keyof Dossier]?: Dossier[Key] | undefined } & {
  readonly password?: string | undefined;
};

export interface DossierDraft extends Dossier {
  /** A new password; undefined: the present one stays. */
  readonly passwordHash: string | undefined;
}

export interface PersonnelStore {
  /** `decide` sees the person as they are while nobody else can change them. */
  update(
    id: bigint,
    decide: (current: StoredDossier) => DossierDraft,
    actor: Actor,
  ): Promise<'done' | 'email taken' | 'last administrator' | undefined>;
  remove(
    id: bigint,
    decide: (current: StoredDossier) => void,
    actor: Actor,
  ): Promise<'done' | 'last administrator' | { readonly lastOwnerOf: readonly string[] } | undefined>;
}

/** Throws when a person is not as the caller last saw them. */
export type DossierCondition = (current: StoredDossier) => void;

export type Personnel = ReturnType<typeof createPersonnel>;

/** People as those who run the house deal with them. Somebody can always run it, and every organization keeps an owner. */
export function createPersonnel(store: PersonnelStore) {
  return { update, remove };

  async function update(id: bigint, input: DossierInput, require: DossierCondition, actor: Actor): Promise<void> {
    const { password, ...said } = input;
    if (said.email !== undefined) requireAddress(said.email);
    const passwordHash = password === undefined ? undefined : await hashNewPassword(password);
    const decide = (current: StoredDossier): DossierDraft => {
      require(current);
      return {
        fullName: said.fullName ?? current.fullName,
        email: said.email ?? current.email,
        description: said.description ?? current.description,
        website: said.website ?? current.website,
        location: said.location ?? current.location,
        isAdmin: said.isAdmin ?? current.isAdmin,
        active: said.active ?? current.active,
        prohibitLogin: said.prohibitLogin ?? current.prohibitLogin,
        passwordHash,
      };
    };
    const outcome = await store.update(id, decide, actor);
    if (outcome === undefined) throw noPerson();
    if (outcome === 'email taken') throw addressTaken(input.email ?? '');
    if (outcome === 'last administrator') throw lastAdministrator();
  }

  async function remove(id: bigint, require: DossierCondition, actor: Actor): Promise<void> {
    const outcome = await store.remove(id, require, actor);
    if (outcome === undefined) throw noPerson();
    if (outcome === 'last administrator') throw lastAdministrator();
    if (outcome !== 'done') {
      const names = outcome.lastOwnerOf.join(', ');
      throw new AppError('conflict', `the last owner of an organization cannot be deleted: ${names}`);
    }
  }
}

export function noPerson(): AppError {
  return new AppError('notFound', 'user does not exist');
}

function lastAdministrator(): AppError {
  return new AppError('conflict', 'the last active site administrator cannot be deleted, deactivated or demoted');
}
