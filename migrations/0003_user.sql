-- Who follows whom. Any page of a long list must cost the same: each follower has a place (seq) in the list of the one
-- they follow, and places are counted in blocks of a thousand, so that a page is found by adding up block counts.
alter table account
  add column followers  bigint not null default 0,
  add column followings bigint not null default 0,
  add column follow_seq bigint not null default 0;

create table follow (
  id          bigint generated always as identity,
  follower_id bigint not null references account on delete cascade,
  followed_id bigint not null references account on delete cascade,
  seq         bigint not null,
  created_at  timestamptz not null default now(),
  primary key (follower_id, followed_id),
  check (follower_id <> followed_id)
);
create unique index follow_followed on follow (followed_id, seq desc) include (follower_id);
create index follow_follower on follow (follower_id, id desc);

create table follow_block (
  followed_id bigint not null references account on delete cascade,
  block       bigint not null,
  count       bigint not null,
  primary key (followed_id, block)
);

-- Triggers, because rows also go when an account is deleted.
create function follow_place() returns trigger language plpgsql as $$
begin
  update account set follow_seq = follow_seq + 1, followers = followers + 1
   where id = new.followed_id returning follow_seq into new.seq;
  update account set followings = followings + 1 where id = new.follower_id;
  insert into follow_block (followed_id, block, count) values (new.followed_id, new.seq / 1000, 1)
    on conflict (followed_id, block) do update set count = follow_block.count + 1;
  return new;
end $$;

create function follow_leave() returns trigger language plpgsql as $$
begin
  update account set followers = followers - 1 where id = old.followed_id;
  update account set followings = followings - 1 where id = old.follower_id;
  update follow_block set count = count - 1 where followed_id = old.followed_id and block = old.seq / 1000;
  return null;
end $$;

create trigger follow_place before insert on follow for each row execute function follow_place();
create trigger follow_leave after delete on follow for each row execute function follow_leave();

create table deploy_order (
  uid        uuid primary key,
  owner_id   bigint not null references account on delete cascade,
  name       text not null,
  spec       json not null,
  created_at timestamptz not null default now()
);
create index deploy_order_owner on deploy_order (owner_id);
