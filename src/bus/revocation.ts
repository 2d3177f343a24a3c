import { setTimeout as pause } from 'node:timers/promises';
import { OBJECT_KINDS, TUPLELESS_KINDS } from '../changes/object-kinds.ts';
import type { Revisions } from '../changes/revision.ts';
import { type Change, PLATFORM } from '../changes/write.ts';
import type { Person } from '../identity/callers.ts';
import type { VisibleClusters } from './bus.ts';
import { exceeds, grantOf } from './grants.ts';

/** A key that users hold credentials with, and the maximum that these allow. */
export interface Holder {
  readonly id: bigint;
  readonly personId: bigint;
  readonly publicKey: string;
  readonly rights: readonly bigint[];
  readonly grantedBy: readonly bigint[];
}

export interface RevocationStore {
  /** Holders that were granted something by one of the accounts, or by any account; ordered by ID. */
  holders(grantedBy: readonly bigint[] | 'anybody', afterId: bigint, most: number): Promise<Holder[]>;
  /** Removes the key: from now on the bus rejects it. */
  remove(publicKey: string): Promise<void>;
}

interface RevocationParts {
  readonly revisions: Pick<Revisions, 'current' | 'listen'>;
  readonly store: RevocationStore;
  readonly visible: VisibleClusters;
  /** Called when the checks begin to fail; they continue. */
  readonly onError: (error: unknown) => void;
}

export type Revocation = ReturnType<typeof createRevocation>;

const LOOK_EVERY_MS = 1000;
const CLOSE_WITHIN_MS = 500;
/** By then, credentials that were being issued during the change have been recorded. */
const AGAIN_AFTER_MS = 10_000;
const BATCH = 200;
/** Changes that cannot take away what bus credentials allow. Any other kind is checked, also one that is added later. */
const HARMLESS: ReadonlySet<Change['kind']> = new Set([
  ...TUPLELESS_KINDS,
  ...Object.values(OBJECT_KINDS).flatMap(({ source, affectsClusters }) => (affectsClusters ? [] : [source])),
]);

/**
 * Revokes credentials that allow more than their owner may do by now. Credentials contain their permissions, so without
 * this a right that was taken away would last until they expire. After every change to an organization, everyone who
 * holds rights granted by it is checked.
 */
export function createRevocation({ revisions, store, visible, onError }: RevocationParts) {
  let fresh = new Set<bigint>();
  let isEverybody = false;
  let again: { readonly at: number; readonly changed: readonly bigint[] | 'anybody' }[] = [];
  let timer: NodeJS.Timeout | undefined;
  let round: Promise<void> = Promise.resolve();
  let isClosed = false;
  let isFailing = false;

  revisions.listen({
    forget({ kind, id, organizationId }) {
      if (organizationId == null || HARMLESS.has(kind)) return;
      // A member shows another name or description.
      if (kind === 'account' && id !== organizationId) return;
      if (organizationId === PLATFORM) isEverybody = true;
      else fresh.add(organizationId);
    },
    forgetAll() {
      isEverybody = true;
    },
  });
  return { start: schedule, close };

  function schedule(): void {
    if (isClosed) return;
    timer = setTimeout(() => {
      round = look()
        .then(() => {
          isFailing = false;
        }, failed)
        .then(schedule);
    }, LOOK_EVERY_MS).unref();
  }

  function failed(error: unknown): void {
    if (!isFailing) onError(error);
    isFailing = true;
  }

  async function look(): Promise<void> {
    await revisions.current();
    const changed = isEverybody ? 'anybody' : [...fresh];
    const isNews = changed === 'anybody' || changed.length > 0;
    isEverybody = false;
    fresh = new Set();
    if (isNews) again.push({ at: performance.now() + AGAIN_AFTER_MS, changed });
    if (isNews) await sweep(changed);
    const due = again.filter(({ at }) => at <= performance.now());
    for (const { changed: before } of due) await sweep(before);
    again = again.filter((one) => !due.includes(one));
  }

  async function sweep(changed: readonly bigint[] | 'anybody'): Promise<void> {
    for (let after = 0n; ; ) {
      const holders = await store.holders(changed, after, BATCH);
      for (const holder of holders) if (await holdsTooMuch(holder)) await store.remove(holder.publicKey);
      const last = holders.at(-1);
      if (!last || isClosed) return;
      after = last.id;
    }
  }

  async function holdsTooMuch({ personId, rights, grantedBy }: Holder): Promise<boolean> {
    // Lets requests run first.
    await new Promise((resolve) => setImmediate(resolve));
    const organizations: Person['organizations'] = new Map(
      grantedBy.filter((one) => one !== personId).map((one) => [one, 'none']),
    );
    return exceeds(rights, grantOf(await visible.clusters({ id: personId, organizations })).rights);
  }

  async function close(): Promise<void> {
    isClosed = true;
    clearTimeout(timer);
    // A hanging database must not keep the process alive.
    await Promise.race([round, pause(CLOSE_WITHIN_MS, undefined, { ref: false })]);
  }
}
