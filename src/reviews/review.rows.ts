import type {
  ItemDetails,
  ItemKind,
  ItemState,
  Named,
  Review,
  ReviewItem,
  ReviewQuestion,
  Undecided,
} from './review.ts';

export interface ReviewRow {
  id: bigint;
  organization_id: bigint;
  name: string;
  question: StoredQuestion;
  undecided: Undecided;
  due_at: Date;
  reviewer_ids: bigint[];
  reviewer_names: string[];
  started_by_id: bigint;
  started_by_name: string;
  started_at: Date;
  left_out: number;
  closed_by_id: bigint | null;
  closed_by_name: string | null;
  closed_at: Date | null;
  record_sha256: string | null;
  version: number;
  open: number;
  kept: number;
  ended: number;
  gone: number;
  rejected: number;
}

/** IDs are text in JSON, because not every number is exact there. */
type Stored<T> = T extends bigint ? string : T extends object ? { [Key in keyof T]: Stored<T[Key]> } : T;
type StoredQuestion = Stored<ReviewQuestion>;

const counted = (state: ItemState) => `(count(*) filter (where i.state = '${state}'))::integer as ${state}`;
export const REVIEW = `r.id, r.organization_id, r.name, r.question, r.undecided, r.due_at, r.reviewer_ids, r.reviewer_names,
  r.started_by_id, r.started_by_name, r.started_at, r.left_out, r.closed_by_id, r.closed_by_name, r.closed_at,
  r.record_sha256, r.version, n.open, n.kept, n.ended, n.gone, n.rejected`;
/** To be joined with `review r`. */
export const COUNTS = `cross join lateral (
    select ${(['open', 'kept', 'ended', 'gone', 'rejected'] satisfies ItemState[]).map(counted).join(', ')}
      from review_item i where i.review_id = r.id) n`;

export interface ItemRow {
  id: bigint;
  kind: ItemKind;
  principal_type: string;
  principal_id: bigint;
  principal_name: string;
  target_id: bigint;
  details: ItemDetails;
  sentence: string;
  state: ItemState;
  is_present: boolean;
  decided_by_id: bigint | null;
  decided_by_name: string | null;
  decided_at: Date | null;
  comment: string;
  reason: string | null;
  message: string | null;
}

/** Whether the access of `review_item i` is still there. */
export const IS_PRESENT = `case i.kind
    when 'membership' then exists (select 1 from team_member m where m.team_id = i.target_id and m.account_id = i.principal_id)
    when 'assignment' then exists (select 1 from assignment s where s.id = i.target_id)
    else exists (select 1 from token t where t.id = i.target_id) end`;
export const ITEM = `i.id, i.kind, i.principal_type, i.principal_id, i.principal_name, i.target_id, i.details, i.sentence,
  i.state, ${IS_PRESENT} as is_present, i.decided_by_id, i.decided_by_name, i.decided_at, i.comment, i.reason, i.message`;

export function toReview(row: ReviewRow): Review {
  return {
    id: row.id,
    organizationId: row.organization_id,
    name: row.name,
    question: toQuestion(row.question),
    undecided: row.undecided,
    dueAt: row.due_at,
    reviewers: row.reviewer_ids.map((id, place) => ({ id, name: row.reviewer_names[place] ?? '' })),
    startedBy: { id: row.started_by_id, name: row.started_by_name },
    startedAt: row.started_at,
    leftOut: row.left_out,
    closedBy: namedOf(row.closed_by_id, row.closed_by_name),
    closedAt: row.closed_at ?? undefined,
    recordHash: row.record_sha256 ?? undefined,
    counts: { open: row.open, kept: row.kept, ended: row.ended, gone: row.gone, rejected: row.rejected },
    version: row.version,
  };
}

export function fromQuestion(question: ReviewQuestion): string {
  return JSON.stringify(question, (_key, value) => (typeof value === 'bigint' ? String(value) : value));
}

function toQuestion(stored: StoredQuestion): ReviewQuestion {
  if (stored.kind === 'access') return { ...stored, object: { ...stored.object, id: BigInt(stored.object.id) } };
  if (stored.kind === 'team') return { ...stored, team: { ...stored.team, id: BigInt(stored.team.id) } };
  return stored;
}

export function toItem(row: ItemRow): ReviewItem {
  return {
    id: row.id,
    kind: row.kind,
    principal: { type: row.principal_type, id: row.principal_id, name: row.principal_name },
    targetId: row.target_id,
    details: row.details,
    sentence: row.sentence,
    state: row.state,
    isPresent: row.is_present,
    decidedBy: namedOf(row.decided_by_id, row.decided_by_name),
    decidedAt: row.decided_at ?? undefined,
    comment: row.comment,
    rejection: row.reason === null ? undefined : { reason: row.reason, message: row.message ?? '' },
  };
}

function namedOf(id: bigint | null, name: string | null): Named | undefined {
  return id === null ? undefined : { id, name: name ?? '' };
}
