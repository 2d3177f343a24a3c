import type { SignedSegment } from './segment.ts';

export const SEGMENT_COLUMNS =
  'organization_id, first_id, last_id, entries, first_previous_hash, last_hash, closed_at, key_id, signature';

export interface SegmentRow {
  organization_id: bigint;
  first_id: bigint;
  last_id: bigint;
  entries: number;
  first_previous_hash: Buffer;
  last_hash: Buffer;
  closed_at: Date;
  key_id: string;
  signature: Buffer;
}

export function toSegment(row: SegmentRow): SignedSegment {
  return {
    ...{ chainId: row.organization_id, first: row.first_id, last: row.last_id, count: row.entries },
    ...{ firstPreviousHash: row.first_previous_hash, lastHash: row.last_hash, closedAt: row.closed_at },
    ...{ keyId: row.key_id, signature: row.signature },
  };
}
