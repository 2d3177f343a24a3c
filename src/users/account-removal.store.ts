import type { ChangeKind } from '../changes/object-kinds.ts';
import type { Change } from '../changes/write.ts';
import { type Query, sql } from '../db/db.ts';

// One account at a time: each removal counts the followers of others down, and two that meet would wait for each other.
const TURN = sql('removal.turn', `select pg_advisory_xact_lock(hashtextextended('account removal', 0))`);
// With all whose followers are counted down, in the order in which following locks them. Whoever wants to give the account
// something from now on waits, and then finds that it is gone.
const LOCK = sql(
  'removal.lock',
  `select id from account where id = $1 or id in (
     select follower_id from follow where followed_id = $1 union select followed_id from follow where follower_id = $1)
    order by id for update`,
);
// Roles before teams, as whoever changes a role locks them.
const LOCK_ROLES = sql('removal.lockRoles', 'select id from role where organization_id = $1 order by id for update');
const LOCK_TEAMS = sql(
  'removal.lockTeams',
  `select t.id from team t where t.organization_id = $1
      or exists (select 1 from team_member m where m.team_id = t.id and m.account_id = $1) order by t.id for update`,
);
const MEMBERS = sql(
  'removal.members',
  `select distinct m.account_id as id from team_member m join team t on t.id = m.team_id where t.organization_id = $1`,
);
// Every row that gives the account's graph a tuple: what a replica that keeps the graph has to forget.
const SOURCES = sql(
  'removal.sources',
  'select distinct source_kind as kind, source_id as id from tuple where store = $1',
);
// What the account's secrets were sealed with: without it even a copy of them is worth nothing.
const DELETE_KEYS = sql('removal.deleteKeys', 'delete from data_key where owner_id = $1');
const DELETE = sql('removal.delete', 'delete from account where id = $1');

/** Nobody else can change the account, its teams or its roles from here on. */
export async function lockForRemoval(query: Query, id: bigint): Promise<void> {
  await query(TURN);
  await query(LOCK, [id]);
  await query(LOCK_ROLES, [id]);
  await query(LOCK_TEAMS, [id]);
}

export async function membersOf(query: Query, id: bigint): Promise<bigint[]> {
  return (await query<{ id: bigint }>(MEMBERS, [id])).map((row) => row.id);
}

/** The account with all that is its own; the tables know what follows it. */
export async function deleteAccount(query: Query, touch: (change: Change) => void, id: bigint): Promise<void> {
  const sources = await query<{ kind: ChangeKind; id: bigint }>(SOURCES, [id]);
  await query(DELETE_KEYS, [id]);
  await query(DELETE, [id]);
  touch({ kind: 'account', id, organizationId: id });
  for (const source of sources) touch({ ...source, organizationId: id });
}
