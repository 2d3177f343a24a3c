import { BELONGING_TYPES } from '../changes/object-kinds.ts';
import { type Query, sql } from '../db/db.ts';
import type {
  AccessRequest,
  AskedType,
  OpenRequest,
  RequestDecision,
  RequestEffects,
  RequestState,
} from './access-request.ts';

/** A row of `access_request r`, with the present names of what it is about. */
export interface RequestRow {
  id: bigint;
  organization_id: bigint;
  organization_name: string;
  state: RequestState;
  by_type: string;
  by_id: bigint;
  by_name: string;
  relation: string;
  object_type: AskedType;
  object_id: bigint;
  object_name: string;
  namespaces: string[] | null;
  role_id: bigint | null;
  team_id: bigint | null;
  change_name: string;
  reason: string;
  rule: string | null;
  approvals: number;
  is_break_glass: boolean;
  acknowledged_at: Date | null;
  acknowledged_by: bigint | null;
  acknowledged_name: string | null;
  token_creator: bigint | null;
  created_at: Date;
  closes_at: Date;
  closed_at: Date | null;
  ends_at: Date | null;
  because: string | null;
  assignment_id: bigint | null;
  effects: string;
  digest: string;
  version: number;
}

/** The columns that are read of all open requests, to find out who can decide about them. */
export type OpenRow = Pick<
  RequestRow,
  | 'id'
  | 'organization_id'
  | 'by_type'
  | 'by_id'
  | 'relation'
  | 'object_type'
  | 'object_id'
  | 'namespaces'
  | 'role_id'
  | 'team_id'
  | 'ends_at'
  | 'token_creator'
> & { role_name: string | null };

interface DecisionRow {
  request_id: bigint;
  user_id: bigint;
  user_name: string;
  is_approval: boolean;
  comment: string;
  digest: string | null;
  decided_at: Date;
}

const OBJECT_NAME = `case r.object_type when 'organization' then (select o.name from account o where o.id = r.organization_id)
     ${BELONGING_TYPES.map(({ type, table }) => `when '${type}' then (select n.name from ${table} n where n.id = r.object_id)`).join('\n     ')} end`;
const account = (id: string) => `(select a.name from account a where a.id = ${id})`;
/** A deleted object keeps the name that it had when it was asked for. A user or robot that is gone has none. */
export const REQUEST = `r.id, r.organization_id, ${account('r.organization_id')} as organization_name, r.state, r.by_type, r.by_id,
  coalesce(case r.by_type when 'robot_ac' then (select b.name from robot b where b.id = r.by_id)
    else ${account('r.by_id')} end, '') as by_name,
  r.relation, r.object_type, r.object_id, coalesce(${OBJECT_NAME}, r.object_name) as object_name, r.namespaces,
  r.role_id, r.team_id, coalesce((select n.name from role n where n.id = r.role_id),
    (select n.name from team n where n.id = r.team_id), r.change_name) as change_name,
  r.reason, r.rule, r.approvals, r.is_break_glass, r.acknowledged_at, r.acknowledged_by,
  ${account('r.acknowledged_by')} as acknowledged_name, r.token_creator, r.created_at, r.closes_at, r.closed_at,
  r.ends_at, r.because, r.assignment_id, r.effects, r.digest, r.version`;
const DECISIONS = sql(
  'requests.decisions',
  `select d.request_id, d.user_id, coalesce(${account('d.user_id')}, '') as user_name, d.is_approval, d.comment, d.digest,
          d.decided_at
     from access_request_decision d where d.request_id = any($1::bigint[]) order by d.decided_at, d.user_id`,
);

/** Adds what was decided about them. */
export async function withDecisions(query: Query, rows: readonly RequestRow[]): Promise<AccessRequest[]> {
  if (rows.length === 0) return [];
  const decided = await query<DecisionRow & Record<string, unknown>>(DECISIONS, [rows.map(({ id }) => id)]);
  const byRequest = Map.groupBy(decided, ({ request_id }) => request_id);
  return rows.map((row) => toRequest(row, (byRequest.get(row.id) ?? []).map(toDecision)));
}

function toDecision(row: DecisionRow): RequestDecision {
  return {
    ...{ userId: row.user_id, userName: row.user_name, isApproval: row.is_approval, comment: row.comment },
    ...{ digest: row.digest, decidedAt: row.decided_at },
  };
}

export function toRequest(row: RequestRow, decisions: readonly RequestDecision[]): AccessRequest {
  const { acknowledged_by: by } = row;
  return {
    ...{ id: row.id, organizationId: row.organization_id, organizationName: row.organization_name, state: row.state },
    by: { type: row.by_type, id: row.by_id, name: row.by_name },
    relation: row.relation,
    object: { type: row.object_type, id: row.object_id, name: row.object_name },
    namespaces: row.namespaces,
    change:
      row.role_id === null
        ? { action: 'team.add_member', team: { id: row.team_id ?? 0n, name: row.change_name } }
        : { action: 'assignment.create', role: { id: row.role_id, name: row.change_name } },
    ...{ reason: row.reason, rule: row.rule, approvals: row.approvals, isBreakGlass: row.is_break_glass },
    acknowledgedAt: row.acknowledged_at,
    acknowledgedBy: by === null ? null : { id: by, name: row.acknowledged_name ?? '' },
    ...{ tokenCreator: row.token_creator, createdAt: row.created_at, closesAt: row.closes_at, closedAt: row.closed_at },
    ...{ until: row.ends_at, because: row.because, assignmentId: row.assignment_id },
    ...{ effects: JSON.parse(row.effects) as RequestEffects, digest: row.digest, decisions, version: row.version },
  };
}

/** Without the names that nothing is decided by. */
export function toOpenRequest(row: OpenRow): OpenRequest {
  const role = row.role_id === null ? undefined : { id: row.role_id, name: row.role_name ?? '' };
  return {
    ...{ id: row.id, organizationId: row.organization_id, relation: row.relation, namespaces: row.namespaces },
    by: { type: row.by_type, id: row.by_id, name: '' },
    object: { type: row.object_type, id: row.object_id, name: '' },
    change: role
      ? { action: 'assignment.create', role }
      : { action: 'team.add_member', team: { id: row.team_id ?? 0n, name: '' } },
    ...{ until: row.ends_at, tokenCreator: row.token_creator },
  };
}

/** A request as the audit log shows it. */
export function requestState(row: Omit<RequestRow, 'effects'>): object {
  return {
    request: `req_${row.id}`,
    by: { type: row.by_type, id: row.by_id, name: row.by_name },
    relation: row.relation,
    on: { type: row.object_type, id: row.object_id, name: row.object_name },
    ...(row.namespaces && { namespaces: row.namespaces }),
    ...(row.role_id === null ? { team: row.change_name } : { role: row.change_name }),
    reason: row.reason,
    ...(row.rule !== null && { rule: row.rule }),
    ...(row.is_break_glass && { breakGlass: true }),
    ...(row.ends_at && { until: row.ends_at }),
  };
}
