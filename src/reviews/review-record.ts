import { createHash } from 'node:crypto';
import { csvLine } from '../base/csv.ts';
import { writeJson } from '../base/json.ts';
import type { ChainEntry, Named, Review, ReviewItem } from './review.ts';
import { questionText } from './review-question.ts';

export interface ReviewRecord {
  readonly text: string;
  /** SHA-256 of the text, in hexadecimal digits. The audit entry that closes the review names it. */
  readonly hash: string;
}

/**
 * What is left of a review, as one text. Its hash is in the audit log, whose entries are chained, so a reader who has
 * the text can prove that it is the one of then. It names the entry with which the review began.
 */
export function reviewRecord(
  review: Review,
  { items, start, organization }: { items: readonly ReviewItem[]; start: ChainEntry; organization: Named },
): ReviewRecord {
  // A line of text ends with a line break: programs that print it add none.
  const json = writeJson({
    format: 'atrium access review 1',
    organization,
    review: {
      id: review.id,
      name: review.name,
      about: questionText(review.question),
      question: review.question,
      undecided: review.undecided,
      due_at: review.dueAt.toISOString(),
      reviewers: review.reviewers,
      started_by: review.startedBy,
      started_at: review.startedAt.toISOString(),
      closed_by: review.closedBy ?? null,
      closed_at: review.closedAt?.toISOString() ?? null,
      left_out: review.leftOut,
    },
    audit: { start: { id: start.id, hash: start.hash } },
    items: items.map((item) => ({
      id: item.id,
      kind: item.kind,
      principal: item.principal,
      ...item.details,
      sentence: item.sentence,
      state: item.state,
      decided_by: item.decidedBy ?? null,
      decided_at: item.decidedAt?.toISOString() ?? null,
      comment: item.comment,
      reason: item.rejection?.reason ?? null,
    })),
  });
  const text = `${json}\n`;
  return { text, hash: hashOf(text) };
}

export function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

const TITLES = ['item', 'kind', 'type', 'name', 'why', 'state', 'decided by', 'decided at', 'comment', 'reason'];

/** One row for each item of the review. */
export function reviewCsv(items: readonly ReviewItem[]): string {
  const rows = items.map((item) => [
    String(item.id),
    item.kind,
    item.principal.type,
    item.principal.name,
    item.sentence,
    item.state,
    item.decidedBy?.name ?? '',
    item.decidedAt?.toISOString() ?? '',
    item.comment,
    item.rejection?.message ?? '',
  ]);
  return `${[TITLES, ...rows].map(csvLine).join('\r\n')}\r\n`;
}
