import { AppError } from '../../base/errors.ts';
import { rawMembers } from '../../base/raw-members.ts';
import { type Attested, createAttestations, type Erasable } from '../verification/attestations.ts';
import { type SegmentSigner, type SignedSegment, segmentText } from './segment.ts';

/** An entry as it is in an archive. */
export interface ArchivedEntry extends Erasable {
  readonly chainId: bigint;
  readonly at: Date;
  readonly previousHash: Buffer;
  readonly line: string;
}

/** A part of an archive, in bytes: from `start` up to `end`. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

export interface ArchivedSegment {
  readonly segment: SignedSegment;
  readonly entries: readonly ArchivedEntry[];
  readonly span: Span;
}

export type ArchiveReading = ReturnType<typeof createArchiveReading>;

const CLOSE = /^\{"close":(\{.*),"signature":"([A-Za-z0-9+/=]*)"\}\}$/;
/** More than any segment that is written here has. */
const MAX_ENTRIES = 100_000;
const NEWLINE = 0x0a;

/**
 * Reads archives. Each segment is verified: its entries follow from each other, their hashes match their content, and
 * it was closed and signed by this deployment.
 */
export function createArchiveReading(
  readEntry: (line: string) => ArchivedEntry,
  attestedIn: (chainId: bigint) => Promise<Attested>,
) {
  return { segmentsIn, closesIn, closeLine };

  async function* segmentsIn(
    parts: AsyncIterable<Buffer>,
    { isOurs }: Pick<SegmentSigner, 'isOurs'>,
    begin: 'at its head' | 'at a segment' = 'at its head',
  ): AsyncGenerator<ArchivedSegment> {
    let entries: ArchivedEntry[] = [];
    let number = 0;
    let start = 0;
    for await (const { line, end } of linesOf(parts)) {
      number++;
      if (number === 1 && begin === 'at its head') {
        requireHead(line);
        start = end;
        continue;
      }
      const segment = readClose(line, number);
      if (segment === undefined) {
        entries.push(read(line, number));
        if (entries.length > MAX_ENTRIES) throw damaged(number, `no segment has more than ${MAX_ENTRIES} entries`);
        continue;
      }
      if (!isOurs(segment)) throw damaged(number, 'the segment was not signed by this deployment');
      if (!covers(segment, entries)) throw damaged(number, 'the segment is not closed for the entries before it');
      await requireAttested(segment.chainId, entries, number);
      yield { segment, entries, span: { start, end } };
      entries = [];
      start = end;
    }
    if (number === 0) throw damaged(1, 'it is empty');
    if (entries.length > 0) throw damaged(number, 'the last segment is not closed');
  }

  async function requireAttested(chainId: bigint, entries: ArchivedEntry[], number: number): Promise<void> {
    const settled = await createAttestations(() => attestedIn(chainId))(entries);
    const changed = settled.find(({ expected, hash }) => !expected.equals(hash));
    if (changed)
      throw damaged(number, `the entry ${changed.id} is erased, and the deployment's log does not attest it`);
  }

  /** Without reading the entries. */
  async function* closesIn(parts: AsyncIterable<Buffer>): AsyncGenerator<SignedSegment> {
    let number = 0;
    for await (const { line } of linesOf(parts)) {
      number++;
      const segment = number === 1 ? undefined : readClose(line, number);
      if (segment) yield segment;
    }
  }

  function read(line: string, number: number): ArchivedEntry {
    let entry: ArchivedEntry;
    try {
      entry = readEntry(line);
    } catch {
      throw damaged(number, 'it is not an entry');
    }
    if (!entry.isErased && !entry.expected.equals(entry.hash))
      throw damaged(number, `the entry ${entry.id} was changed`);
    return entry;
  }

  function closeLine(segment: SignedSegment): string {
    const { signature } = segment;
    return `{"close":${segmentText(segment).slice(0, -1)},"signature":"${signature.toString('base64')}"}}\n`;
  }
}

function requireHead(line: string): void {
  const kind = /^\{"kind":"(\w+)"/.exec(line)?.[1];
  if (kind !== 'AuditSegments') throw damaged(1, 'it is not an archive of the audit log');
}

function readClose(line: string, number: number): SignedSegment | undefined {
  if (!line.startsWith('{"close":')) return undefined;
  try {
    const [, text = '', signature = ''] = CLOSE.exec(line) ?? [];
    const raw = rawMembers(`${text}}`);
    const number = (name: string) => BigInt(raw.get(name) ?? '');
    const bytes = (name: string) => Buffer.from(String(JSON.parse(raw.get(name) ?? '')), 'hex');
    const segment = {
      ...{ chainId: number('organization_id'), first: number('first'), last: number('last') },
      ...{ count: Number(number('count')), firstPreviousHash: bytes('first_previous_hash') },
      ...{ lastHash: bytes('last_hash'), closedAt: new Date(String(JSON.parse(raw.get('closed_at') ?? ''))) },
      ...{ keyId: String(JSON.parse(raw.get('key_id') ?? '')), signature: Buffer.from(signature, 'base64') },
    };
    if (segmentText(segment) === `${text}}`) return segment;
  } catch {
    // Named below.
  }
  throw damaged(number, 'the end of the segment cannot be read');
}

function covers(segment: SignedSegment, entries: readonly ArchivedEntry[]): boolean {
  const [first, last] = [entries[0], entries.at(-1)];
  if (!first || !last || entries.length !== segment.count) return false;
  const follows = entries.every((entry, place) => {
    const before = entries[place - 1];
    const previousHash = before?.hash ?? segment.firstPreviousHash;
    const isLater = before === undefined || before.id < entry.id;
    return entry.chainId === segment.chainId && entry.previousHash.equals(previousHash) && isLater;
  });
  return follows && first.id === segment.first && last.id === segment.last && last.hash.equals(segment.lastHash);
}

/** Each line, and how many bytes there are up to its end. */
async function* linesOf(parts: AsyncIterable<Buffer>): AsyncGenerator<{ readonly line: string; readonly end: number }> {
  let rest: Buffer[] = [];
  let passed = 0;
  for await (const part of parts) {
    let start = 0;
    for (let end = part.indexOf(NEWLINE); end >= 0; end = part.indexOf(NEWLINE, start)) {
      yield { line: Buffer.concat([...rest, part.subarray(start, end)]).toString('utf8'), end: passed + end + 1 };
      rest = [];
      start = end + 1;
    }
    if (start < part.length) rest.push(part.subarray(start));
    passed += part.length;
  }
  if (rest.length > 0) throw new AppError('invalid', 'the archive is cut off: its last line has no end');
}

function damaged(line: number, why: string): AppError {
  return new AppError('invalid', `line ${line} of the archive: ${why}`);
}
