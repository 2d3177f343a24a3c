import { limitReached } from '../../base/config/limits.ts';
import type { Page, PageRequest } from '../../base/page.ts';
import type { Quotas } from '../../changes/quotas.store.ts';
import { type Db, only, type Query, sql } from '../../db/db.ts';
import { nameKey } from '../../identity/account-names/account-names.ts';
import { PROFILE, type ProfileRow, toProfile } from '../profile.rows.ts';
import type { Profile } from '../profile.ts';
import type { FollowStore } from './follows.ts';

type FollowRow = Omit<ProfileRow, 'id'> & { total: bigint; id: bigint | null };

// Finds the page by the counts of the blocks before it, newest first, and within its block by the index. The start is
// read by sub-selects, because with a join the planner could read all followers and compare them with it. With a limit,
// each user of the page is looked up: the planner does not know how short the page is, and could read all accounts.
const FOLLOWERS = sql(
  'follows.followers',
  `with blocks as (
     select block, (sum(count) over (order by block desc))::bigint - count as before, count
       from follow_block where followed_id = $1
   ), start as materialized (
     select block, before from blocks where before <= $2 and before + count > $2 order by block desc limit 1
   ), page as (
     select f.follower_id, f.seq from follow f
      where f.followed_id = $1 and f.seq < (select (block + 1) * 1000 from start)
      order by f.seq desc offset (select $2 - before from start) limit $3
   )
   select o.followers as total, ${PROFILE}
     from account o left join page p on true
     left join lateral (select * from account where id = p.follower_id limit 1) as a on true
     left join lateral (select address from email where account_id = a.id and is_primary limit 1) as e on true
    where o.id = $1 order by p.seq desc`,
);
const FOLLOWING = sql(
  'follows.following',
  `with page as (
     select f.followed_id, f.id from follow f where f.follower_id = $1 order by f.id desc offset $2 limit $3
   )
   select o.followings as total, ${PROFILE}
     from account o left join page p on true
     left join lateral (select * from account where id = p.followed_id and kind = 'user' limit 1) as a on true
     left join lateral (select address from email where account_id = a.id and is_primary limit 1) as e on true
    where o.id = $1 order by p.id desc`,
);
// An organization may be private, and following it would show its profile.
const ID_OF = sql('follows.idOf', `select id from account where name_key = $1 and kind = 'user'`);
const IS = sql('follows.is', 'select 1 as yes from follow where follower_id = $1 and followed_id = $2');
// In the order of IDs, so that two users who follow each other at the same moment do not deadlock.
const LOCK = sql('follows.lock', 'select id from account where id in ($1, $2) order by id for no key update');
const INSERT = sql('follows.insert', 'insert into follow (follower_id, followed_id, seq) values ($1, $2, 0)');
const COUNT = sql('follows.count', 'select followings from account where id = $1');
const DELETE = sql('follows.delete', 'delete from follow where follower_id = $1 and followed_id = $2');

export function createFollowStore(db: Db, quotas: Pick<Quotas, 'limits'>): FollowStore {
  return {
    followers: (id, request) => list(FOLLOWERS, id, request),
    following: (id, request) => list(FOLLOWING, id, request),

    async idOf(name) {
      const [row] = await db.query<{ id: bigint }>(ID_OF, [nameKey(name)]);
      return row?.id;
    },

    async isFollowing(followerId, followedId) {
      return (await db.query(IS, [followerId, followedId])).length > 0;
    },

    async add(followerId, followedId) {
      return await db.transaction(async (query) => {
        const both = await query(LOCK, [followerId, followedId]);
        // One of the two may have been deleted since their name was looked up.
        if (both.length < 2) return false;
        if ((await query(IS, [followerId, followedId])).length > 0) return true;
        await requireWithinLimits(query, followerId);
        await query(INSERT, [followerId, followedId]);
        return true;
      });
    },

    async remove(followerId, followedId) {
      await db.transaction(async (query) => {
        await query(LOCK, [followerId, followedId]);
        await query(DELETE, [followerId, followedId]);
      });
    },
  };

  /** The account is locked, and its counter with it. */
  async function requireWithinLimits(query: Query, followerId: bigint): Promise<void> {
    const { followsPerUser } = quotas.limits;
    const { followings } = only(await query<{ followings: bigint }>(COUNT, [followerId]));
    if (followings >= BigInt(followsPerUser)) throw limitReached('followsPerUser', followsPerUser);
  }

  async function list(statement: typeof FOLLOWERS, id: bigint, request: PageRequest): Promise<Page<Profile>> {
    const rows = await db.query<FollowRow>(statement, [id, request.offset, request.limit]);
    return { items: rows.flatMap(toProfiles), total: Number(rows[0]?.total ?? 0n) };
  }
}

function toProfiles({ id, ...row }: FollowRow): Profile[] {
  return id === null ? [] : [toProfile({ id, ...row })];
}
