import { AppError } from '../base/errors.ts';
import type { Page, PageRequest } from '../base/page.ts';
import type { Actor } from '../changes/audit-entry.ts';
import type { Person } from '../identity/callers.ts';
import type { SecondFactors } from '../identity/second-factor.ts';
import type { FactorKind } from '../identity/sessions/proof-kinds.ts';
import { hashRecoveryCode, newRecoveryCodes } from './recovery-codes.ts';

export interface PasskeyCard {
  readonly id: bigint;
  readonly name: string;
  readonly isSynced: boolean;
  readonly createdAt: Date;
  readonly lastUsedAt: Date | null;
}

/** Everything that a user has besides a password. */
export interface FactorSummary {
  readonly passkeys: readonly PasskeyCard[];
  readonly totp: { readonly createdAt: Date; readonly lastUsedAt: Date | null } | undefined;
  readonly recoveryCodes: { readonly left: number; readonly createdAt: Date } | undefined;
}

/** A user, and what they have besides a password. */
export interface FactorHolder {
  readonly id: bigint;
  readonly login: string;
  readonly fullName: string;
  readonly isAdmin: boolean;
  readonly passkeys: number;
  readonly hasTotp: boolean;
  readonly recoveryCodesLeft: number;
}

export interface HolderSearch {
  /** Only members of this organization. */
  readonly organizationId?: bigint;
  /** Only those who have none. */
  readonly isMissing: boolean;
}

export interface FactorStore {
  summary(accountId: bigint): Promise<FactorSummary>;
  /** Users who can sign in, ordered by ID. */
  holders(search: HolderSearch, request: PageRequest): Promise<Page<FactorHolder>>;
  /** False if there is no such passkey. */
  renamePasskey(accountId: bigint, id: bigint, name: string, actor: Actor): Promise<boolean>;
  /** `kept` says whether one must remain. Without any, the recovery codes go too. */
  removePasskey(accountId: bigint, id: bigint, kept: boolean, actor: Actor): Promise<Removal>;
  removeTotp(accountId: bigint, kept: boolean, actor: Actor): Promise<Removal>;
  /** False if the user has no second factor that they would be for. */
  replaceRecoveryCodes(accountId: bigint, hashes: readonly Buffer[], actor: Actor): Promise<boolean>;
  /** Uses the code up. False if there is none, or if it was used before. */
  useRecoveryCode(accountId: bigint, hash: Buffer, actor: Actor): Promise<boolean>;
  /** Removes everything and ends all sessions. Returns how much there was. */
  reset(accountId: bigint, actor: Actor): Promise<number>;
  /** False if nothing changes. */
  setRequired(organizationId: bigint, isRequired: boolean, actor: Actor): Promise<boolean>;
  isRequired(organizationId: bigint): Promise<boolean>;
  /** Whether the user can sign in with a provider. */
  isLinked(accountId: bigint): Promise<boolean>;
}

export type Removal = 'done' | 'absent' | 'last';

/** Codes for a user who adds the first factor: what is stored, and what the user gets to see once. */
export interface NewRecoveryCodes {
  readonly texts: readonly string[];
  readonly hashes: readonly Buffer[];
}

export type Factors = ReturnType<typeof createFactors>;

const MAX_NAME = 60;

/** What users have besides a password: listed, renamed, removed, and required. */
export function createFactors(store: FactorStore, secondFactors: SecondFactors, recoveryKey: Buffer) {
  return {
    summary: store.summary,
    holders: store.holders,
    isRequired: secondFactors.isRequired,
    policy: secondFactors.policy,
    rename,
    remove,
    newCodes,
    renewRecoveryCodes,
    useRecoveryCode,
    reset: store.reset,
    require,
    isRequiredIn: store.isRequired,
    isLinked: store.isLinked,
  };

  async function rename({ id: accountId }: Person, id: bigint, name: string, actor: Actor): Promise<void> {
    if (!(await store.renamePasskey(accountId, id, readName(name), actor))) throw noSuchFactor();
  }

  /** The last one stays if one is required. */
  async function remove(person: Person, what: bigint | 'totp', actor: Actor): Promise<void> {
    const kept = await secondFactors.isRequired(person);
    const removal =
      what === 'totp'
        ? await store.removeTotp(person.id, kept, actor)
        : await store.removePasskey(person.id, what, kept, actor);
    if (removal === 'absent') throw noSuchFactor();
    if (removal === 'last') {
      const message = 'a second factor is required, and this is the only one: add another one first';
      throw new AppError('conflict', message, { reason: 'last_factor' });
    }
  }

  function newCodes(): NewRecoveryCodes {
    const texts = newRecoveryCodes();
    return { texts, hashes: texts.map((text) => hashRecoveryCode(recoveryKey, text)) };
  }

  async function renewRecoveryCodes({ id }: Person, actor: Actor): Promise<readonly string[]> {
    const { texts, hashes } = newCodes();
    if (await store.replaceRecoveryCodes(id, hashes, actor)) return texts;
    throw new AppError('conflict', 'recovery codes are for users with a second factor: add one first');
  }

  async function useRecoveryCode({ id }: Person, code: string, actor: Actor): Promise<boolean> {
    return await store.useRecoveryCode(id, hashRecoveryCode(recoveryKey, code), actor);
  }

  /** An owner who requires a second factor of members has one: otherwise they would be kept out by their own rule. */
  async function require(
    organizationId: bigint,
    isRequired: boolean,
    setBy: readonly FactorKind[],
    actor: Actor,
  ): Promise<void> {
    if (isRequired && setBy.length === 0) {
      throw new AppError('conflict', 'add a second factor for yourself before you require one of others');
    }
    await store.setRequired(organizationId, isRequired, actor);
  }
}

export function readName(name: string): string {
  const trimmed = name.trim();
  const isFine = trimmed !== '' && trimmed.length <= MAX_NAME && !/\p{Cc}/u.test(trimmed);
  if (isFine) return trimmed;
  const message = `name must have 1 to ${MAX_NAME} characters`;
  throw new AppError('malformed', message, { errors: [{ field: 'name', message }] });
}

function noSuchFactor(): AppError {
  return new AppError('notFound', 'second factor does not exist', { reason: 'factor_not_found' });
}
