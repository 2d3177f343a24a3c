import { createHash } from 'node:crypto';
import { AppError } from '../../base/errors.ts';
import type { ArchivedEntry, ArchiveReading, Span } from './archive-file.ts';
import type { SegmentSigner, SignedSegment } from './segment.ts';

/**
 * Moves old entries of the audit log into an archive, and back.
 *
 * 1. An archive is written, made durable, read back and verified before a single entry is removed.
 * 2. A segment, which says what was removed and is signed, is stored in the transaction that removes its entries. So
 *    every entry is in the database or in an archive, whenever the process ends.
 * 3. Of each log, the last entry stays: the next one follows from it.
 * 4. A log that was changed outside the server is not archived.
 * 5. Archives contain the hashes of texts that identify people, not the texts, so that people can still be erased.
 *    Entries of earlier releases contain the texts: who is being erased from them is first erased from all.
 */
export interface ArchiveStore {
  /** Logs after this one that have entries before the moment which may be removed. */
  chains(after: bigint, before: Date, limit: number): Promise<ArchivableChain[]>;
  chain(chainId: bigint, before: Date): Promise<ArchivableChain | undefined>;
  entries(chainId: bigint, after: bigint, limit: number): Promise<ArchivedEntry[]>;
  /** Removes exactly the entries of these segments, in one transaction; throws if they are not what is there. */
  remove(segments: readonly SignedSegment[], archive: ArchiveFacts): Promise<void>;
  /** The last archived segment of a log, and in which archive it is. */
  lastSegment(chainId: bigint): Promise<(SignedSegment & { readonly place: string }) | undefined>;
  /** Whether such a segment is archived. */
  hasSegment(segment: SignedSegment): Promise<boolean>;
  putBack(segment: SignedSegment, entries: readonly ArchivedEntry[], place: string): Promise<void>;
}

export interface ArchivableChain {
  readonly chainId: bigint;
  /** The last entry of the log, which stays. */
  readonly last: bigint;
  /** What the first entry must follow from. */
  readonly previousHash: Buffer;
}

export interface ArchiveFacts {
  readonly place: string;
  readonly sha256: string;
  readonly before: Date;
}

/** Where archives are. */
export interface ArchivePlace {
  /** What it is called in the log and in messages. */
  readonly name: string;
  /** Complete and durable when it returns, or not there at all. Rejects if something is there. */
  write(lines: AsyncIterable<string>): Promise<void>;
  /** What was written, or a span of it, in parts. */
  read(span?: Span): AsyncIterable<Buffer>;
}

export interface ArchiveParts {
  readonly store: ArchiveStore;
  readonly signer: SegmentSigner;
  readonly reading: ArchiveReading;
  readonly deployment: () => string;
  /** Erases people who are not erased from every entry yet. False if a person is left. */
  readonly finishErasures?: () => Promise<boolean>;
  /** Whether entries from before the moment must stay for now: they were not pushed yet. */
  readonly isNeeded?: (before: Date) => Promise<boolean>;
}

export interface ArchiveWish {
  readonly place: ArchivePlace;
  readonly before: Date;
  /** All logs if absent. */
  readonly chainIds?: readonly bigint[] | undefined;
}

export interface ArchiveOutcome {
  readonly entries: number;
  readonly logs: number;
  readonly sha256: string;
}

export type AuditArchive = ReturnType<typeof createAuditArchive>;

/** In one transaction: it is over before other writers have waited for long. */
export const SEGMENT_ENTRIES = 20_000;
const SEGMENTS_TOGETHER = 500;
const BATCH = 500;
const CHAINS = 200;

export function createAuditArchive({ store, signer, reading, deployment, finishErasures, isNeeded }: ArchiveParts) {
  return { archive, restore };

  /** Undefined if there is nothing to archive; then nothing is written. */
  async function archive({ place, before, chainIds }: ArchiveWish, now: Date): Promise<ArchiveOutcome | undefined> {
    if (before > now) throw new AppError('invalid', 'the moment is in the future: archive what is before a past one');
    if (await isNeeded?.(before)) {
      const when = before.toISOString();
      throw new AppError('conflict', `not all entries from before ${when} are in AUDIT_PUSH yet: try again later`);
    }
    if (finishErasures && !(await finishErasures())) {
      throw new AppError('conflict', 'a person is being erased from the entries: try again in a minute');
    }
    const chains = chosen(before, chainIds);
    const first = await chains.next();
    if (first.done) return undefined;
    const written = createHash('sha256');
    await place.write(hashing(written, lines(first.value, chains, before, now)));
    const sha256 = written.digest('hex');
    await verify(place, sha256);
    return { ...(await remove(place, { place: place.name, sha256, before })), sha256 };
  }

  async function* chosen(before: Date, chainIds: readonly bigint[] | undefined): AsyncGenerator<ArchivableChain> {
    if (chainIds !== undefined) {
      for (const chainId of [...new Set(chainIds)].sort((one, other) => (one < other ? -1 : 1))) {
        const chain = await store.chain(chainId, before);
        if (chain) yield chain;
      }
      return;
    }
    for (let after = -1n; ; ) {
      const found = await store.chains(after, before, CHAINS);
      yield* found;
      const last = found.at(-1);
      if (last === undefined) return;
      after = last.chainId;
    }
  }

  async function* lines(
    first: ArchivableChain,
    others: AsyncIterable<ArchivableChain>,
    before: Date,
    now: Date,
  ): AsyncGenerator<string> {
    const head = { kind: 'AuditSegments', deployment: deployment(), before: before.toISOString() };
    yield `${JSON.stringify({ ...head, created_at: now.toISOString() })}\n`;
    yield* chainLines(first, before, now);
    for await (const chain of others) yield* chainLines(chain, before, now);
  }

  async function* chainLines({ chainId, last, previousHash }: ArchivableChain, before: Date, now: Date) {
    let previous = previousHash;
    let count = 0;
    let [first, end]: (ArchivedEntry | undefined)[] = [];
    const close = () => {
      if (!first || !end) return '';
      const range = { chainId, first: first.id, last: end.id, count, firstPreviousHash: first.previousHash };
      [count, first] = [0, undefined];
      return reading.closeLine(signer.sign({ ...range, lastHash: end.hash, closedAt: now }));
    };
    for (let after = 0n; ; ) {
      const found = await store.entries(chainId, after, BATCH);
      const some = found.filter(({ id, at }) => id < last && at < before);
      for (const entry of some) {
        if (!entry.previousHash.equals(previous) || !entry.expected.equals(entry.hash)) throw broken(entry);
        previous = entry.hash;
        first ??= entry;
        end = entry;
        count++;
      }
      if (some.length > 0) yield some.map(({ line }) => `${line}\n`).join('');
      const isOver = some.length < found.length || found.length < BATCH;
      if (isOver || count >= SEGMENT_ENTRIES) yield close();
      if (isOver || !end) return;
      after = end.id;
    }
  }

  /** What was written, as it is there now. */
  async function verify(place: ArchivePlace, sha256: string): Promise<void> {
    const found = createHash('sha256');
    for await (const _ of reading.segmentsIn(hashing(found, place.read()), signer)) void _;
    if (found.digest('hex') !== sha256) throw differs(place.name);
  }

  async function remove(place: ArchivePlace, facts: ArchiveFacts): Promise<Omit<ArchiveOutcome, 'sha256'>> {
    const logs = new Set<bigint>();
    let entries = 0;
    let group: SignedSegment[] = [];
    const flush = async () => {
      if (group.length > 0) await store.remove(group, facts);
      entries += total(group);
      group = [];
    };
    for await (const segment of reading.closesIn(place.read())) {
      if (!signer.isOurs(segment)) throw differs(place.name);
      if (group.length >= SEGMENTS_TOGETHER || total(group) + segment.count > SEGMENT_ENTRIES) await flush();
      group.push(segment);
      logs.add(segment.chainId);
    }
    await flush();
    return { entries, logs: logs.size };
  }

  /** Puts archived entries back. Of each log, the last segment is first, so that no log ever has a gap. */
  async function restore(
    place: ArchivePlace,
    chainIds: readonly bigint[] | undefined,
  ): Promise<Omit<ArchiveOutcome, 'sha256'>> {
    const isWanted = (chainId: bigint) => chainIds === undefined || chainIds.includes(chainId);
    const wanted: Found[] = [];
    for await (const { segment, span } of reading.segmentsIn(place.read(), signer)) {
      if (isWanted(segment.chainId) && (await store.hasSegment(segment))) wanted.push({ segment, span });
    }
    if (wanted.length === 0) {
      throw new AppError('conflict', `nothing in ${place.name} is archived from this database, or it was restored`);
    }
    const segments = wanted.map(({ segment }) => segment);
    await rejectGaps(segments);
    for (const { span } of wanted.toReversed()) {
      for await (const { segment, entries } of reading.segmentsIn(place.read(span), signer, 'at a segment')) {
        await store.putBack(segment, entries, place.name);
      }
    }
    return { entries: total(segments), logs: new Set(segments.map(({ chainId }) => chainId)).size };
  }

  async function rejectGaps(wanted: readonly SignedSegment[]): Promise<void> {
    for (const [chainId, some] of Map.groupBy(wanted, (one) => one.chainId)) {
      const last = await store.lastSegment(chainId);
      if (last && last.last !== some.at(-1)?.last) {
        throw new AppError('conflict', `restore ${last.place} first: it has later entries of the log ${chainId}`);
      }
    }
  }
}

interface Found {
  readonly segment: SignedSegment;
  readonly span: Span;
}

async function* hashing<Part extends string | Buffer>(
  hash: ReturnType<typeof createHash>,
  parts: AsyncIterable<Part>,
): AsyncGenerator<Part> {
  for await (const part of parts) {
    hash.update(part);
    yield part;
  }
}

function total(segments: readonly SignedSegment[]): number {
  return segments.reduce((sum, { count }) => sum + count, 0);
}

function broken({ chainId, id }: ArchivedEntry): AppError {
  const message = `the log ${chainId} was changed outside the server, at its entry ${id}: nothing was removed; run atrium audit --verify --full`;
  return new AppError('conflict', message);
}

function differs(name: string): AppError {
  return new AppError('internal', `${name} is not what was written to it: nothing of it was removed`);
}
