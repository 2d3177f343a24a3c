import { setTimeout as pause } from 'node:timers/promises';
import { AppError } from '../../base/errors.ts';
import type { Page, PageRequest } from '../../base/page.ts';
import type { Actor } from '../../changes/audit-entry.ts';
import type { ErasedPerson, ErasureList } from './erasure-list.ts';

/** A person who must not be erased. */
export interface LegalHold {
  readonly accountId: bigint;
  /** Empty if the account is deleted. */
  readonly username: string;
  readonly reason: string;
  readonly createdById: bigint;
  readonly createdAt: Date;
}

export type Held = 'held' | 'unknown' | 'erased';

export interface ErasureStore {
  userNamed(name: string): Promise<bigint | undefined>;
  /** Undefined if the account is deleted. */
  nameOf(id: bigint): Promise<string | undefined>;
  /** Erases a person whose account was deleted before. */
  eraseDeleted(id: bigint, actor: Actor): Promise<'done' | 'held' | undefined>;
  /** Removes what is left in the log of people who are erased. False if something of them is still there. */
  finish(): Promise<boolean>;
  erasedAfter(moment: Date): Promise<ErasedPerson[]>;
  /** Begins a hold, or gives it another reason. Undefined if there never was such a user, or it is erased. */
  hold(id: bigint, reason: string, actor: Actor): Promise<LegalHold | undefined>;
  release(id: bigint, actor: Actor): Promise<boolean>;
  holds(request: PageRequest): Promise<Page<LegalHold>>;
}

export type Erasure = ReturnType<typeof createErasure>;

const PATIENCE_MS = 3000;

/**
 * Erases people: what identifies them in the audit log is removed for good, and every hash stays valid.
 *
 * 1. From the commit on, no page and no export shows a text of the person. The rows follow, a part at a time, and so do
 *    entries of earlier releases, which show it until then (plain-entries.store.ts).
 * 2. IDs stay, so that questions about the past have the same answers.
 * 3. No user is erased while there is a legal hold.
 * 4. The number of each is in a list beside the database, so that the restore of an older backup erases them again.
 */
export function createErasure(store: ErasureStore, list: ErasureList) {
  return { hold, release, holds: store.holds, nameOf: store.nameOf, eraseDeleted, finish, finishSoon };

  async function finish(): Promise<boolean> {
    await list.keep();
    return await store.finish();
  }

  /**
   * With many entries of earlier releases, it takes longer than clients wait: then it goes on without the caller. What
   * fails after that is tried again by the upkeep.
   */
  async function finishSoon(): Promise<void> {
    const done = finish();
    done.catch(() => undefined);
    await Promise.race([done, pause(PATIENCE_MS, undefined, { ref: false })]);
  }

  async function eraseDeleted(id: bigint, actor: Actor): Promise<void> {
    const outcome = await store.eraseDeleted(id, actor);
    if (outcome === undefined) throw noSuchUser();
    if (outcome === 'held') throw onHold();
  }

  async function hold(name: string, reason: string, actor: Actor): Promise<LegalHold> {
    const found = await store.hold(await idOf(name), reason, actor);
    if (!found) throw noSuchUser();
    return found;
  }

  async function release(name: string, actor: Actor): Promise<void> {
    if (!(await store.release(await idOf(name), actor))) {
      throw new AppError('notFound', 'there is no legal hold on this user');
    }
  }

  async function idOf(name: string): Promise<bigint> {
    const id = idIn(name) ?? (await store.userNamed(name));
    if (id === undefined) throw noSuchUser();
    return id;
  }
}

/** The ID in `id:17`, which names a user who may be deleted. No name has a colon. */
export function idIn(name: string): bigint | undefined {
  const [, digits] = /^id:(\d{1,18})$/.exec(name) ?? [];
  return digits === undefined ? undefined : BigInt(digits);
}

/** An administrator answers for an erasure in their own name. */
export function requireOwnName({ sudoBy }: Actor): void {
  if (sudoBy) {
    throw new AppError('forbidden', 'people cannot be erased on behalf of another user', { reason: 'sudo_forbidden' });
  }
}

export function onHold(): AppError {
  return new AppError('conflict', 'there is a legal hold on this user: release it first', { reason: 'legal_hold' });
}

function noSuchUser(): AppError {
  return new AppError('notFound', 'user not found', { reason: 'user_not_found' });
}
