import { limitReached } from '../base/config/limits.ts';
import { yieldToEventLoop } from '../base/scheduling/slices.ts';
import type { Actor } from '../changes/audit-entry.ts';
import { sql } from '../db/db.ts';
import { about, memberState, touchBoth } from '../organizations/members.store.ts';
import type { Transaction } from '../users/users.store.ts';
import type { TeamAfter } from './plans/team-plan.ts';

const INSERT = sql(
  'organizationFile.addMembers',
  `insert into team_member (team_id, account_id, expires_at)
   select n.team_id, n.account_id, n.expires_at
     from unnest($1::bigint[], $2::bigint[], $3::timestamptz[]) as n (team_id, account_id, expires_at)`,
);
const UPDATE = sql(
  'organizationFile.changeMembers',
  `update team_member m set expires_at = n.expires_at
     from unnest($1::bigint[], $2::bigint[], $3::timestamptz[]) as n (team_id, account_id, expires_at)
    where m.team_id = n.team_id and m.account_id = n.account_id`,
);
const DELETE = sql(
  'organizationFile.removeMembers',
  `delete from team_member m using unnest($1::bigint[], $2::bigint[]) as n (team_id, account_id)
    where m.team_id = n.team_id and m.account_id = n.account_id`,
);
const FULLEST = sql(
  'organizationFile.fullest',
  `select coalesce(max(n.count), 0)::integer as teams from (
     select count(*) from team_member where account_id = any($1::bigint[]) group by account_id) n`,
);
/** Written with one statement, which may not take long. */
const ROWS_AT_ONCE = 500;

/** A team that is there by now, and who joins and leaves it. */
export type MembersOfTeam = Pick<TeamAfter, 'id' | 'name' | 'joins' | 'leaves'> & { readonly organizationId: bigint };

interface Row {
  readonly team: { readonly id: bigint; readonly organization_id: bigint; readonly name: string };
  readonly accountId: bigint;
  readonly login: string;
  readonly before: { readonly until: Date | null } | undefined;
  readonly after: { readonly until: Date | null } | undefined;
}

/**
 * Many memberships with a few statements: one alone takes eight. Everything that they name is locked. Users join the
 * owners before other users leave them.
 */
export async function putMembers(
  transaction: Transaction,
  teams: readonly MembersOfTeam[],
  maxTeams: number,
  actor: Actor,
): Promise<void> {
  const { query } = transaction;
  const rows = teams.flatMap(rowsOf);
  const joined = rows.filter(({ before, after }) => !before && after);
  for (const part of partsOf(joined)) {
    await query(INSERT, [...keysOf(part), part.map(({ after }) => after?.until ?? null)]);
    await note(transaction, part, 'team.add_member', actor);
  }
  for (const part of partsOf(rows.filter(({ before, after }) => before && after))) {
    await query(UPDATE, [...keysOf(part), part.map(({ after }) => after?.until ?? null)]);
    await note(transaction, part, 'team.update_member', actor);
  }
  for (const part of partsOf(rows.filter(({ after }) => !after))) {
    await query(DELETE, keysOf(part));
    await note(transaction, part, 'team.remove_member', actor);
  }
  const [fullest] = await query<{ teams: number }>(FULLEST, [joined.map(({ accountId }) => accountId)]);
  if (fullest && fullest.teams > maxTeams) throw limitReached('teamsPerUser', maxTeams);
}

function rowsOf({ id, name, organizationId, joins, leaves }: MembersOfTeam): Row[] {
  const team = { id, name, organization_id: organizationId };
  return [
    ...joins.map(({ account, present, until }): Row => {
      const before = present && { until: present.expiresAt };
      return { team, accountId: account.id, login: account.login, before, after: { until } };
    }),
    ...leaves.map((one): Row => {
      return { team, accountId: one.id, login: one.login, before: { until: one.expiresAt }, after: undefined };
    }),
  ];
}

async function note(
  { touch, record }: Transaction,
  rows: readonly Row[],
  action: 'team.add_member' | 'team.update_member' | 'team.remove_member',
  actor: Actor,
): Promise<void> {
  for (const { team, accountId, login, before, after } of rows) {
    touchBoth(touch, team, accountId);
    const state = (one: Row['before']) => one && memberState(team, accountId, login, one.until);
    const [was, is] = [state(before), state(after)];
    record({ ...about(actor, action, team), ...(was && { before: was }), ...(is && { after: is }) });
  }
  await yieldToEventLoop();
}

function keysOf(rows: readonly Row[]): [bigint[], bigint[]] {
  return [rows.map(({ team }) => team.id), rows.map(({ accountId }) => accountId)];
}

function* partsOf<T>(items: readonly T[]): Generator<readonly T[], void, void> {
  for (let first = 0; first < items.length; first += ROWS_AT_ONCE) yield items.slice(first, first + ROWS_AT_ONCE);
}
