import { sign, verify } from 'node:crypto';
import { seedKey } from '../verification/seed-key.ts';

/** A part of a log that is closed: written to an archive, and removed from the database. */
export interface Segment {
  readonly chainId: bigint;
  /** The IDs of its first and last entry. */
  readonly first: bigint;
  readonly last: bigint;
  readonly count: number;
  readonly firstPreviousHash: Buffer;
  readonly lastHash: Buffer;
  readonly closedAt: Date;
  readonly keyId: string;
}

export interface SignedSegment extends Segment {
  readonly signature: Buffer;
}

export interface SegmentSigner {
  readonly keyId: string;
  /** As `/.well-known/webhook-keys` shows it. */
  readonly publicKey: string;
  sign(segment: Omit<Segment, 'keyId'>): SignedSegment;
  /** Whether this deployment closed exactly this segment. */
  isOurs(segment: SignedSegment): boolean;
}

export type SegmentProblem = 'segment_forged' | 'segment_missing';

/** The archived segments of a log, as far as each follows from the one before it. */
export interface Archived {
  readonly segments: readonly (Segment & { readonly isSigned: boolean })[];
  readonly entries: number;
  /** What the first entry that is kept must follow from. */
  readonly lastHash: Buffer;
  readonly last: bigint;
  /** The first segment that is not as it was signed, or does not follow from the one before it. */
  readonly broken?: { readonly id: bigint; readonly problem: SegmentProblem };
}

const START = Buffer.alloc(32);

/** The key is derived from one that stays the same if the root key is replaced, and that backups contain. */
export function createSegmentSigner(seed: Buffer): SegmentSigner {
  const { privateKey, publicKey, raw, id: keyId } = seedKey(seed);
  return {
    keyId,
    publicKey: `whpk_${raw.toString('base64')}`,
    sign(given) {
      const segment = { ...given, keyId };
      return { ...segment, signature: sign(null, Buffer.from(segmentText(segment)), privateKey) };
    },
    isOurs: (segment) =>
      segment.keyId === keyId && verify(null, Buffer.from(segmentText(segment)), publicKey, segment.signature),
  };
}

/** The signed text, byte for byte as it is in the archive, without the signature. */
export function segmentText(segment: Segment): string {
  const { chainId, first, last, count, firstPreviousHash, lastHash, closedAt, keyId } = segment;
  return [
    `{"organization_id":${chainId},"first":${first},"last":${last},"count":${count}`,
    `"first_previous_hash":"${firstPreviousHash.toString('hex')}","last_hash":"${lastHash.toString('hex')}"`,
    `"closed_at":"${closedAt.toISOString()}","key_id":${JSON.stringify(keyId)}}`,
  ].join(',');
}

/** Given in the order of their entries. */
export function followSegments(given: readonly SignedSegment[], { isOurs }: Pick<SegmentSigner, 'isOurs'>): Archived {
  let lastHash: Buffer = START;
  let [last, entries] = [0n, 0];
  let broken: Archived['broken'];
  const segments = given.map((segment) => {
    const isSigned = isOurs(segment);
    const follows = segment.firstPreviousHash.equals(lastHash) && segment.first > last;
    if (!isSigned) broken ??= { id: segment.first, problem: 'segment_forged' };
    else if (!follows) broken ??= { id: segment.first, problem: 'segment_missing' };
    lastHash = segment.lastHash;
    [last, entries] = [segment.last, entries + segment.count];
    return { ...segment, isSigned };
  });
  return { segments, entries, lastHash, last, ...(broken && { broken }) };
}
