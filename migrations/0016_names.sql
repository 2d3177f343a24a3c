-- A name that an account gave up, by a new name or by its deletion, stays reserved for it: whoever took it at once would
-- get the requests of everybody who still uses it. There is no foreign key, because the reservation outlives the
-- account.
create table reserved_name (
  name_key    text primary key,
  name        text not null,
  account_id  bigint not null,
  kind        text not null check (kind in ('user', 'organization')),
  reserved_at timestamptz not null default now(),
  expires_at  timestamptz not null default now() + interval '90 days'
);
create index reserved_name_account on reserved_name (account_id);
create index reserved_name_expiry on reserved_name (expires_at);

-- In the transaction that gives the name up, whatever code writes to account.
create function name_reserve() returns trigger language plpgsql as $$
begin
  delete from reserved_name where expires_at <= now();
  insert into reserved_name (name_key, name, account_id, kind) values (old.name_key, old.name, old.id, old.kind)
    on conflict (name_key) do update set name = excluded.name, account_id = excluded.account_id, kind = excluded.kind,
      reserved_at = excluded.reserved_at, expires_at = excluded.expires_at;
  return null;
end $$;
create trigger account_renamed after update of name on account for each row
  when (old.name_key <> new.name_key) execute function name_reserve();
create trigger account_name_left after delete on account for each row execute function name_reserve();

-- After the row is written, not before: two accounts cannot have a name at the same time, so whoever waited for the name
-- here sees the reservation of the one who gave it up. A release that does not know the reservation reports the name as
-- taken.
create function name_refuse_reserved() returns trigger language plpgsql as $$
declare
  held record;
begin
  select account_id, expires_at into held from reserved_name where name_key = new.name_key;
  if not found then
    return null;
  end if;
  if held.account_id <> new.id and held.expires_at > now() then
    raise unique_violation using message = 'the name is reserved for another account', table = 'reserved_name',
      constraint = 'account_name';
  end if;
  delete from reserved_name where name_key = new.name_key;
  return null;
end $$;
create trigger account_named after insert on account for each row execute function name_refuse_reserved();
create trigger account_named_again after update of name on account for each row
  when (old.name_key <> new.name_key) execute function name_refuse_reserved();

-- A UID is unique for each owner, so that nobody can keep the owner of a cluster from importing it. On the message bus a
-- cluster is still known by one word that no other cluster has: the UID itself for the first one that has it, and
-- `<uid>_<owner ID>` for others. That word stays in the column `uid`, which is unique, because every earlier release
-- takes it from there; such a release must not give one owner the subjects of another.
create unique index cluster_owner_uid
  on cluster (owner_id, (case when substr(uid, 37, 1) = '_' then left(uid, 36) else uid end));
