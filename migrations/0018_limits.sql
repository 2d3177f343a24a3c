-- Who created an organization, for the limit on how many a user can create. Unknown for those of older versions, which do
-- not count. There is no reference: the number of a deleted user is never given to another.
alter table account add column founder_id bigint;
create index account_founder on account (founder_id) where founder_id is not null;

-- Only users can be followed. Whoever followed an organization saw its profile, even if it was private. The trigger of the
-- deleted rows keeps the counters right, and the accounts are locked in the order in which following locks them. From now on
-- the row is not even inserted, also by a server of an older version.
select id from account where id in (
  select unnest(array[f.follower_id, f.followed_id]) from follow f join account a on a.id = f.followed_id
   where a.kind = 'organization') order by id for no key update;
delete from follow f using account a where a.id = f.followed_id and a.kind = 'organization';
create or replace function follow_place() returns trigger language plpgsql as $$
begin
  if not exists (select 1 from account where id = new.followed_id and kind = 'user') then
    return null;
  end if;
  update account set follow_seq = follow_seq + 1, followers = followers + 1
   where id = new.followed_id returning follow_seq into new.seq;
  update account set followings = followings + 1 where id = new.follower_id;
  insert into follow_block (followed_id, block, count) values (new.followed_id, new.seq / 1000, 1)
    on conflict (followed_id, block) do update set count = follow_block.count + 1;
  return new;
end $$;

-- Confirmation emails of the last hour. A row outlives the address of the account, so that adding and removing an address
-- again and again does not send one email after another.
create table confirmation_email (
  id          bigint generated always as identity primary key,
  account_id  bigint not null,
  address_key text not null,
  sent_at     timestamptz not null
);
create index confirmation_email_account on confirmation_email (account_id, sent_at);
create index confirmation_email_address on confirmation_email (address_key, sent_at);
create index confirmation_email_sent on confirmation_email (sent_at);

-- For the number of rejected deliveries that are kept.
create index delivery_refused on delivery (marketplace, source) where state = 'refused';
