import { yieldToEventLoop } from '../base/scheduling/slices.ts';
import type { ChangeKind } from '../changes/object-kinds.ts';
import type { Change } from '../changes/write.ts';
import { only, type Query, type Statement, sql } from '../db/db.ts';

// One account at a time: each removal decrements the follower counts of other users, and two concurrent removals would
// deadlock.
const TURN = sql('removal.turn', `select pg_advisory_xact_lock(hashtextextended('account removal', 0))`);
// The account and all whose counters change with it, in the order in which following locks them. A request that gives
// the account something from now on waits, and then finds that it is gone.
const AFFECTED = sql(
  'removal.affected',
  `select array(
     select $1::bigint as id union select follower_id from follow where followed_id = $1
      union select followed_id from follow where follower_id = $1 order by id) as ids`,
);
const LOCK = sql(
  'removal.lock',
  `select count(*) from (select id from account where id = any($1::bigint[]) order by id for update) as locked`,
);
// Roles are locked before teams, as in every change of a role.
const LOCK_ROLES = sql('removal.lockRoles', 'select id from role where organization_id = $1 order by id for update');
const AFFECTED_TEAMS = sql(
  'removal.affectedTeams',
  `select array(
     select id from team where organization_id = $1 union select team_id from team_member where account_id = $1
      order by id) as ids`,
);
const LOCK_TEAMS = sql(
  'removal.lockTeams',
  `select count(*) from (select id from team where id = any($1::bigint[]) order by id for update) as locked`,
);
const MEMBERS = sql(
  'removal.members',
  `select array(select distinct m.account_id from team_member m join team t on t.id = m.team_id
                 where t.organization_id = $1) as ids`,
);
// Every row that contributes a tuple to the account's graph: a replica that keeps the graph has to forget them. Every
// team also has other tuples than those of its members, which are most of all.
const SOURCES = sql(
  'removal.sources',
  `select source_kind as kind, array_agg(distinct source_id) as ids from tuple
    where store = $1 and relation <> 'member' group by source_kind`,
);
// The keys that sealed the account's secrets: without them, even a copy of the secrets is worthless.
const DELETE_KEYS = sql('removal.deleteKeys', 'delete from data_key where owner_id = $1');
// What the account was answered with. Without the keys above, it could not be opened any more.
const DELETE_RESPONSES = sql('removal.deleteResponses', 'delete from idempotency_key where account_id = $1');
const DELETE = sql('removal.delete', 'delete from account where id = $1');
// What an account can have thousands of. It would be deleted with the account anyway, but in one statement, which
// could take too long.
const MANY = [
  sql('removal.followers', deleteSome('follow', 'followed_id = $1')),
  sql('removal.follows', deleteSome('follow', 'follower_id = $1')),
  sql('removal.clusters', deleteSome('cluster', 'owner_id = $1')),
  sql('removal.ownMembers', deleteSome('team_member', 'team_id in (select id from team where organization_id = $1)')),
  sql('removal.teams', deleteSome('team', 'organization_id = $1')),
  sql('removal.memberships', deleteSome('team_member', 'account_id = $1')),
];
const AT_ONCE = 500;

function deleteSome(table: string, which: string): string {
  return `with gone as (
     delete from ${table} where ctid = any (array (select ctid from ${table} where ${which} limit $2)) returning 1)
   select count(*)::integer as count from gone`;
}

/** From here on, no other request can change the account, its teams or its roles. */
export async function lockForRemoval(query: Query, id: bigint): Promise<void> {
  await query(TURN);
  await lockAll(AFFECTED, LOCK);
  await query(LOCK_ROLES, [id]);
  await lockAll(AFFECTED_TEAMS, LOCK_TEAMS);

  async function lockAll(affected: Statement, lock: Statement): Promise<void> {
    const { ids } = only(await query<{ ids: bigint[] }>(affected, [id]));
    for (let first = 0; first < ids.length; first += AT_ONCE) await query(lock, [ids.slice(first, first + AT_ONCE)]);
  }
}

export async function membersOf(query: Query, id: bigint): Promise<bigint[]> {
  return only(await query<{ ids: bigint[] }>(MEMBERS, [id])).ids;
}

/** Deletes the account with everything that it owns; the tables define what is deleted with it. */
export async function deleteAccount(query: Query, touch: (change: Change) => void, id: bigint): Promise<void> {
  const sources = await query<{ kind: ChangeKind; ids: bigint[] }>(SOURCES, [id]);
  await query(DELETE_KEYS, [id]);
  await query(DELETE_RESPONSES, [id]);
  for (const statement of MANY) {
    while (only(await query<{ count: number }>(statement, [id, AT_ONCE])).count === AT_ONCE) await yieldToEventLoop();
  }
  await query(DELETE, [id]);
  touch({ kind: 'account', id, organizationId: id });
  for (const { kind, ids } of sources) {
    for (const source of ids) touch({ kind, id: source, organizationId: id });
  }
}
