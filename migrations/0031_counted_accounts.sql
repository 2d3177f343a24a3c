-- compatible-from: 18
-- Lists of the whole deployment are as fast with a million accounts as with a thousand: how many there are is known
-- without counting, and the few that are looked for are in an index.

-- How many accounts there are, by blocks of 1,000 IDs. Every change adds a row, so that two of them never wait for each
-- other; rows of one block are added up from time to time. The sum of all rows is exact at every moment.
create table account_count (
  id bigint generated always as identity primary key,
  block bigint not null,
  users integer not null,
  -- Those of the users who are deactivated or may not sign in.
  barred integer not null,
  organizations integer not null
);
insert into account_count (block, users, barred, organizations)
select id / 1000, count(*) filter (where kind = 'user'),
       count(*) filter (where kind = 'user' and (not active or prohibit_login)),
       count(*) filter (where kind = 'organization')
  from account group by id / 1000;

create function account_count_come() returns trigger language plpgsql as $$
begin
  insert into account_count (block, users, barred, organizations)
  select id / 1000, count(*) filter (where kind = 'user'),
         count(*) filter (where kind = 'user' and (not active or prohibit_login)),
         count(*) filter (where kind = 'organization')
    from come group by id / 1000;
  return null;
end $$;
create function account_count_go() returns trigger language plpgsql as $$
begin
  insert into account_count (block, users, barred, organizations)
  select id / 1000, -count(*) filter (where kind = 'user'),
         -count(*) filter (where kind = 'user' and (not active or prohibit_login)),
         -count(*) filter (where kind = 'organization')
    from gone group by id / 1000;
  return null;
end $$;
create function account_count_change() returns trigger language plpgsql as $$
begin
  insert into account_count (block, users, barred, organizations)
  values (old.id / 1000, -(old.kind = 'user')::integer,
          -(old.kind = 'user' and (not old.active or old.prohibit_login))::integer, -(old.kind = 'organization')::integer),
         (new.id / 1000, (new.kind = 'user')::integer,
          (new.kind = 'user' and (not new.active or new.prohibit_login))::integer, (new.kind = 'organization')::integer);
  return null;
end $$;
create trigger account_counted after insert on account
  referencing new table as come for each statement execute function account_count_come();
create trigger account_uncounted after delete on account
  referencing old table as gone for each statement execute function account_count_go();
create trigger account_counted_again after update of id, kind, active, prohibit_login on account for each row
  when (old.id <> new.id or old.kind <> new.kind or old.active <> new.active or old.prohibit_login <> new.prohibit_login)
  execute function account_count_change();

-- Organizations in the order of their IDs, without the users between them.
create index account_organization on account (id) where kind = 'organization';

-- Whether an account has a second factor: among a million, those without one are found by index.
alter table account add column has_factor boolean not null default false;
update account a set has_factor = true
 where exists (select 1 from passkey p where p.account_id = a.id) or exists (select 1 from totp t where t.account_id = a.id);
create index account_factorless on account (id)
  where kind = 'user' and active and not prohibit_login and not has_factor;
create function factor_note() returns trigger language plpgsql as $$
declare
  owner bigint := case tg_op when 'DELETE' then old.account_id else new.account_id end;
  has boolean := exists (select 1 from passkey where account_id = owner) or exists (select 1 from totp where account_id = owner);
begin
  update account set has_factor = has where id = owner and has_factor <> has;
  return null;
end $$;
create trigger passkey_noted after insert or delete on passkey for each row execute function factor_note();
create trigger totp_noted after insert or delete on totp for each row execute function factor_note();

-- Organizations whose last owner is gone. Whoever changes the members of a team holds the lock of that team.
alter table account add column is_ownerless boolean not null default false;
update account o set is_ownerless = true where o.kind = 'organization' and not exists (
  select 1 from team t join team_member m on m.team_id = t.id where t.organization_id = o.id and t.permission = 'owner');
create index account_ownerless on account (id) where is_ownerless;
create function owner_come() returns trigger language plpgsql as $$
begin
  update account set is_ownerless = false where is_ownerless and id in (
    select t.organization_id from come c join team t on t.id = c.team_id where t.permission = 'owner');
  return null;
end $$;
create function owner_go() returns trigger language plpgsql as $$
begin
  update account o set is_ownerless = true
   where o.id = any (array (
           select distinct t.organization_id from gone g join team t on t.id = g.team_id where t.permission = 'owner'))
     and not o.is_ownerless and not exists (
       select 1 from team t join team_member m on m.team_id = t.id
        where t.organization_id = o.id and t.permission = 'owner');
  return null;
end $$;
create trigger team_member_owner_come after insert on team_member
  referencing new table as come for each statement execute function owner_come();
create trigger team_member_owner_gone after delete on team_member
  referencing old table as gone for each statement execute function owner_go();
