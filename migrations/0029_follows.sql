-- compatible-from: 18
-- Counters change once per statement instead of once per row. With a statement that deletes hundreds of follows of one
-- account, its row changes once, and not hundreds of times, each of which had to look past all versions before it.
-- A loop, because a plan for one account finds it by its key, whatever was planned for before.
create or replace function follow_leave() returns trigger language plpgsql as $$
declare
  one record;
begin
  for one in select followed_id as id, count(*) as count from gone group by followed_id order by followed_id loop
    update account set followers = followers - one.count where id = one.id;
  end loop;
  for one in select follower_id as id, count(*) as count from gone group by follower_id order by follower_id loop
    update account set followings = followings - one.count where id = one.id;
  end loop;
  for one in select followed_id as id, seq / 1000 as block, count(*) as count from gone group by 1, 2 order by 1, 2 loop
    update follow_block set count = count - one.count where followed_id = one.id and block = one.block;
  end loop;
  return null;
end $$;
create or replace trigger follow_leave after delete on follow referencing old table as gone
  for each statement execute function follow_leave();
