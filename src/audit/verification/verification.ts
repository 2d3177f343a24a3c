import {
  type Archived,
  followSegments,
  type SegmentProblem,
  type SegmentSigner,
  type SignedSegment,
} from '../archive/segment.ts';
import { type Attested, createAttestations, type Erasable } from './attestations.ts';
import type { Checkpoint, CheckpointSigner, SignedCheckpoint } from './checkpoint.ts';

/**
 * Verifies the chains of the audit log.
 *
 * 1. Each entry must contain the hash of the one before it, and its own hash must match its content.
 * 2. What was verified is sealed by a signed checkpoint, so that the next verification starts there. It proves that the
 *    entry of the checkpoint is as it was, and everything after it. An entry before it that was changed, without its
 *    hash, shows only from the beginning.
 * 3. From the beginning, every checkpoint is compared with the entries. An attacker who rewrites all hashes after a
 *    forged entry cannot sign new checkpoints.
 * 4. A checkpoint that is not ours, or contradicts the chain, is reported, and the chain is verified from the
 *    beginning.
 * 5. A chain is sealed only as far as nothing in it is broken.
 * 6. An entry of an earlier release from which a person was erased keeps its hash, which nothing can match any more. It
 *    is unbroken if the deployment's chain attests it.
 * 7. What was archived is told by signed segments. Each must follow from the one before it, and the first entry that is
 *    kept from the last of them.
 */
export interface VerificationStore {
  /** The entries of a chain after an ID, in its order. */
  chain(chainId: bigint, after: bigint, limit: number): Promise<ChainLink[]>;
  segments(chainId: bigint): Promise<SignedSegment[]>;
  checkpoints(chainId: bigint, after: bigint, limit: number): Promise<SignedCheckpoint[]>;
  lastCheckpoint(chainId: bigint): Promise<SignedCheckpoint | undefined>;
  keep(checkpoint: SignedCheckpoint): Promise<void>;
  /** What the deployment's chain attests to be erased from entries of a chain. */
  attested(chainId: bigint): Promise<Attested>;
  /** From how many entries of a chain a person was erased. */
  erased(chainId: bigint): Promise<number>;
  /** Chains among the newest entries that have more than so many after their last checkpoint. */
  grown(search: { newest: number; entries: number; limit: number }): Promise<bigint[]>;
}

/** What the hash must be is computed from the row as it is. */
export interface ChainLink extends Erasable {
  readonly previousHash: Buffer;
}

export type Problem = 'checkpoint_forged' | 'checkpoint_contradicted' | 'erasure_unattested' | SegmentProblem;

export interface Walked {
  /** Entries of the chain that are kept, with those that the checkpoint counts. */
  readonly rows: number;
  readonly segments: Archived['segments'];
  readonly firstBrokenId: bigint | null;
  /** Where the verification started, unless at the first entry. */
  readonly checkpoint?: Checkpoint | undefined;
  readonly problem?: Problem | undefined;
}

export interface Verdict extends Walked {
  /** Kept entries of earlier releases from which a person was erased. Their hashes stay. */
  readonly erased: number;
}

/** A verification between two entries. */
export interface Progress extends Walked {
  readonly chainId: bigint;
  readonly after: bigint;
  readonly previous: Buffer;
  /** From the first entry, so that every checkpoint on the way is compared. */
  readonly isWhole: boolean;
  readonly archived: Archived;
}

/** What a verification goes on from. */
export type Place = Omit<Progress, 'archived' | 'segments'> & { readonly archived: Pick<Archived, 'last'> };

export type From = 'checkpoint' | 'beginning' | Place;

export interface Walk {
  readonly verdict: Promise<Verdict>;
  progress(): Progress | undefined;
}

export type Verification = ReturnType<typeof createVerification>;

/** Between two batches, other requests are served. States can be long. */
const BATCH = 250;
/** Entries between two checkpoints: less than a verification reads in a fraction of a second. */
export const CHECKPOINT_EVERY = 2000;
const CHECKPOINTS = 500;
/** What the upkeep of a minute does. */
/** How often a log may be archived while it is verified. */
const MAX_TURNS = 5;
const UPKEEP = { newest: 200, chains: 5, entries: 20_000 };

interface VerificationParts {
  readonly store: VerificationStore;
  readonly signer: CheckpointSigner;
  readonly segmentSigner: Pick<SegmentSigner, 'isOurs'>;
  /** A chain was found broken without a request to verify it. */
  readonly onBroken: (chainId: bigint, verdict: Verdict) => void;
}

export function createVerification({ store, signer, segmentSigner, onBroken }: VerificationParts) {
  const walks = new Map<string, Walk & { readonly wanting: (() => boolean)[] }>();
  return { verify, advance };

  /**
   * There is only one walk at a time over the same part of a chain: callers that ask while it is running get its
   * verdict.
   */
  function verify(chainId: bigint, from: From, isWanted: () => boolean): Walk {
    const key = `${chainId} ${typeof from === 'string' ? from : `${from.after} ${from.isWhole} ${from.firstBrokenId}`}`;
    const present = walks.get(key);
    if (present) {
      present.wanting.push(isWanted);
      return present;
    }
    const wanting = [isWanted];
    let at: Progress | undefined;
    const note = (now: Progress) => {
      at = now;
    };
    const steps = { key, isWanted: () => wanting.some((wants) => wants()), note };
    const walk = { verdict: walkFrom(chainId, from, steps), progress: () => at, wanting };
    walks.set(key, walk);
    return walk;
  }

  async function walkFrom(
    chainId: bigint,
    from: From,
    { key, isWanted, note }: { key: string; isWanted: () => boolean; note(now: Progress): void },
  ): Promise<Verdict> {
    try {
      for (let turn = 1; ; turn++) {
        const start = await begin(chainId, turn === 1 ? from : 'beginning');
        const found = await walkOn(start, isWanted, note);
        // Entries that were archived or restored meanwhile are missing in between, or were met too early.
        const isStale = found.firstBrokenId !== null && (await archivedOf(chainId)).last !== start.archived.last;
        if (!isStale || turn === MAX_TURNS) return { ...found, erased: await store.erased(chainId) };
      }
    } finally {
      // In the same turn of the event loop as the end, so that no caller joins a walk that was given up.
      walks.delete(key);
    }
  }

  async function walkOn(start: Progress, isWanted: () => boolean, note: (now: Progress) => void): Promise<Progress> {
    const sealing = createSealing(start);
    const settle = createAttestations(() => store.attested(start.chainId));
    for (let now = start; ; ) {
      note(now);
      const checkpoints = now.isWhole ? await store.checkpoints(now.chainId, now.after, CHECKPOINTS) : [];
      const links = await settle(await store.chain(now.chainId, now.after, BATCH));
      now = follow(now, links, checkpoints);
      await sealing.seal(now);
      if (links.length < BATCH || !isWanted()) return now;
    }
  }

  async function archivedOf(chainId: bigint): Promise<Archived> {
    return followSegments(await store.segments(chainId), segmentSigner);
  }

  async function begin(chainId: bigint, from: From): Promise<Progress> {
    const archived = await archivedOf(chainId);
    const { segments, last, lastHash, broken } = archived;
    const common = { archived, segments, chainId };
    const problems = { firstBrokenId: broken?.id ?? null, problem: broken?.problem };
    const beginning = { ...common, ...problems, after: 0n, previous: lastHash, rows: 0, isWhole: true };
    if (from === 'beginning') return beginning;
    // What was verified then may be archived by now.
    if (from !== 'checkpoint') return from.archived.last === last ? { ...from, ...common } : beginning;
    const checkpoint = await store.lastCheckpoint(chainId);
    if (checkpoint === undefined || !signer.isOurs(checkpoint)) return beginning;
    const { lastId, entries, hash } = checkpoint;
    const settle = createAttestations(() => store.attested(chainId));
    const [link] = await settle(await store.chain(chainId, lastId - 1n, 1));
    if (link?.id !== lastId || !link.hash.equals(hash) || !link.expected.equals(hash)) return beginning;
    if (segments.length > 0) {
      const [first] = await store.chain(chainId, 0n, 1);
      if (!first?.previousHash.equals(lastHash) || first.id <= last) return beginning;
    }
    const rows = entries - archived.entries;
    return { ...common, ...problems, after: lastId, previous: hash, rows, isWhole: false, checkpoint };
  }

  /** The checkpoints were read before the entries, so those that are beyond the last entry contradict the chain. */
  function follow(before: Progress, links: readonly ChainLink[], given: readonly SignedCheckpoint[]): Progress {
    const checkpoints = [...given];
    const { archived } = before;
    let { after, previous, rows, firstBrokenId, problem } = before;
    const report = ({ lastId }: Checkpoint, found: Problem) => {
      firstBrokenId ??= lastId;
      problem ??= found;
    };
    for (const link of links) {
      rows++;
      const isLinked = link.previousHash.equals(previous);
      const isFirst = rows === 1 && before.isWhole;
      if (isFirst && !isLinked && archived.segments.length > 0) problem ??= 'segment_missing';
      const isUnchanged = link.expected.equals(link.hash);
      if (link.isErased && !isUnchanged) problem ??= 'erasure_unattested';
      if (!isLinked || !isUnchanged) firstBrokenId ??= link.id;
      for (let next = checkpoints[0]; next && next.lastId <= link.id; next = checkpoints[0]) {
        checkpoints.shift();
        const agrees =
          next.lastId === link.id && next.hash.equals(link.hash) && next.entries === rows + archived.entries;
        if (!signer.isOurs(next)) report(next, 'checkpoint_forged');
        else if (!agrees) report(next, 'checkpoint_contradicted');
      }
      previous = link.hash;
      after = link.id;
    }
    const [beyond] = checkpoints;
    if (beyond && links.length < BATCH) {
      report(beyond, signer.isOurs(beyond) ? 'checkpoint_contradicted' : 'checkpoint_forged');
    }
    return { ...before, after, previous, rows, firstBrokenId, problem };
  }

  function createSealing(start: Progress) {
    let sealed = start.rows;
    return {
      async seal({ chainId, after, rows, previous, firstBrokenId, archived }: Progress): Promise<void> {
        if (firstBrokenId !== null || rows - sealed < CHECKPOINT_EVERY) return;
        sealed = rows;
        const createdAt = new Date();
        await store.keep(
          signer.sign({ chainId, lastId: after, entries: rows + archived.entries, hash: previous, createdAt }),
        );
      },
    };
  }

  /** Verifies what was written of late, so that a verification that a caller asks for is short. */
  async function advance(): Promise<void> {
    const { newest, chains, entries } = UPKEEP;
    for (const chainId of await store.grown({ newest, entries: CHECKPOINT_EVERY, limit: chains })) {
      let first: number | undefined;
      const walk = verify(chainId, 'checkpoint', () => {
        const rows = walk.progress()?.rows ?? 0;
        first ??= rows;
        return rows - first < entries;
      });
      const verdict = await walk.verdict;
      if (verdict.firstBrokenId !== null) onBroken(chainId, verdict);
    }
  }
}
