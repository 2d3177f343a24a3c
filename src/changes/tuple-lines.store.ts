import { only, type Query, sql } from '../db/db.ts';
import { CHANGE_KINDS } from './object-kinds.ts';
import { TupleLines } from './tuple-lines.ts';
import { PLATFORM } from './write.ts';

const LINE = `t.object_type || ':' || t.object_id || ' ' || t.relation || ' ' || t.subject || ' ' || t.source_kind || ':'
  || t.source_id`;
/** Of these kinds, what is listed below instead. */
const LISTED: Readonly<Partial<Record<(typeof CHANGE_KINDS)[number], string>>> = {
  team: `and (t.object_type, t.relation) <> ('team', 'member')`,
  role: `and (t.object_type, t.relation) <> ('role', 'assignee')`,
};
/** A line for each tuple. From the views of all kinds, because planning a view of views takes a quarter longer. */
const SINGLE = CHANGE_KINDS.map(
  (kind) => `select 1 as count, ${LINE} as line from tuple_${kind} t
  where t.store in ($1, ${PLATFORM}) ${LISTED[kind] ?? ''}`,
).join(' union all ');
// More than half of what a large organization states. A line for each team and each role, instead of each tuple, makes
// the text half as long. So these two parts of the view are said twice, and a test compares them.
const MEMBERS = `select m.count, 'team:' || t.id || ' member user:' || m.ids || ' team:' || t.id
  from team t, lateral (
    select count(*)::integer, string_agg(account_id::text, ',') as ids from team_member where team_id = t.id
  ) m where t.organization_id = $1`;
const ASSIGNEES = `select a.count, 'role:' || r.id || ' assignee team:' || a.ids || '#member role:' || r.id
  from role r, lateral (
    select count(*)::integer, string_agg(team_id::text, ',') as ids from assignment
     where role_id = r.id and team_id is not null
  ) a where r.organization_id = $1`;

/**
 * All tuples of account `$1`, and how many they are. Many thousands come as one text, which is read in a fraction of the
 * time that as many rows take.
 */
export const LINES = `select coalesce(sum(l.count), 0)::integer as count, string_agg(l.line, E'\\n') as lines
  from (${SINGLE} union all ${MEMBERS} union all ${ASSIGNEES}) l`;

const ALL = sql('tuples.all', LINES);

export interface CountedTuples {
  readonly count: number;
  readonly tuples: TupleLines;
}

/** All tuples of an account and of the deployment, in one statement. */
export async function allTuples(query: Query, accountId: bigint): Promise<CountedTuples> {
  const { count, lines } = only(await query<{ count: number; lines: string | null }>(ALL, [accountId]));
  return { count, tuples: new TupleLines(lines ?? '') };
}
