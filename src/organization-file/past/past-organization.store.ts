import { namesOf } from '../../authz/explain/explain.store.ts';
import type { Query } from '../../db/db.ts';
import { sql } from '../../db/db.ts';
import type { Found, Untold } from './past-organization.ts';

const SETS = sql(
  'pastOrganization.sets',
  'select id, name from cluster_set where organization_id = $1 and name = any($2::text[])',
);
const AMBIGUOUS = sql(
  'pastOrganization.ambiguous',
  `select c.id from contract c where c.id = any($1::bigint[])
      and exists (select 1 from contract d where d.owner_id = c.owner_id and d.name = c.name and d.id <> c.id)`,
);
const IS_ARCHIVED = sql(
  'pastOrganization.isArchived',
  'select exists (select 1 from audit_segment where organization_id = $1) as yes',
);
// How a membership began that was there at the moment. Providers act as the server, under their own names.
const JOINED = sql(
  'pastOrganization.joined',
  `select distinct on (n.team_id, n.user_id) n.team_id, n.user_id,
          a.actor_id = 0 and a.actor_name like 'provider %' as is_provided
     from unnest($2::bigint[], $3::text[]) as n (team_id, user_id)
     join audit a on a.object_id = n.team_id and a.after->>'userId' = n.user_id
    where a.object_type = 'team' and a.organization_id = $1 and a.action = 'team.add_member' and a.at <= $4
    order by n.team_id, n.user_id, a.at desc, a.id desc`,
);
// An assignment that a request made has its entry in the same transaction as the approval.
const REQUESTED = sql(
  'pastOrganization.requested',
  `select c.object_id as id, exists (
            select 1 from audit r where r.organization_id = $1 and r.action = 'request.approve'
               and r.at between c.at - interval '1 second' and c.at + interval '1 second'
               and r.after->>'assignmentId' = c.object_id::text) as is_requested
     from audit c where c.object_type = 'assignment' and c.object_id = any($2::bigint[]) and c.organization_id = $1
      and c.action = 'assignment.create'`,
);
/** Asked about with one statement, which may not take long. */
const ROWS_AT_ONCE = 500;

export async function lookUpPastOrganization(
  query: Query,
  organizationId: bigint,
  at: Date,
  untold: Untold,
): Promise<Found> {
  const { objects, sets, contracts, memberships, assignments } = untold;
  const [archived] = await query<{ yes: boolean }>(IS_ARCHIVED, [organizationId]);
  const names = new Map<string, string>();
  for (const part of partsOf(objects)) for (const [object, name] of await namesOf(query, part)) names.set(object, name);
  const setRows = await query<{ id: bigint; name: string }>(SETS, [organizationId, sets]);
  const twice = await query<{ id: bigint }>(AMBIGUOUS, [contracts]);
  const provided = new Map<string, boolean>();
  for (const part of partsOf(memberships)) {
    const [teams, users] = [part.map(({ teamId }) => teamId), part.map(({ userId }) => String(userId))];
    const values = [organizationId, teams, users, at];
    const rows = await query<{ team_id: bigint; user_id: string; is_provided: boolean }>(JOINED, values);
    for (const row of rows) provided.set(`${row.team_id} ${row.user_id}`, row.is_provided);
  }
  const requested = new Map<bigint, boolean>();
  for (const part of partsOf(assignments)) {
    const rows = await query<{ id: bigint; is_requested: boolean }>(REQUESTED, [organizationId, part]);
    for (const row of rows) requested.set(row.id, row.is_requested);
  }
  return {
    ...{ names, provided, requested, isArchived: archived?.yes ?? false },
    sets: new Map(setRows.map(({ id, name }) => [name, id])),
    ambiguous: new Set(twice.map(({ id }) => id)),
  };
}

function* partsOf<T>(items: readonly T[]): Generator<readonly T[], void, void> {
  for (let first = 0; first < items.length; first += ROWS_AT_ONCE) yield items.slice(first, first + ROWS_AT_ONCE);
}
