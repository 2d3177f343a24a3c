-- Credentials of the bus end with the token that they were obtained with. The key is the user's, so it remembers the
-- tokens of everyone who obtained credentials with it, also those of an administrator who acted for the user.
alter table bus_user add column issued_with bigint[] not null default '{}';
create index bus_user_issued_with on bus_user using gin (issued_with);

-- However a token ends, also with its account.
create function bus_forget_token() returns trigger language plpgsql as $$
begin
  delete from bus_user where issued_with @> array[old.id];
  return null;
end $$;
create trigger token_leaves_bus after delete on token for each row execute function bus_forget_token();

-- Tokens of an account that may not be used are as good as revoked, also for what they obtained for others.
create or replace function bus_dismiss() returns trigger language plpgsql as $$
begin
  delete from bus_user u where u.account_id = new.id
     and (not new.active or new.prohibit_login or (u.realm = 'administration' and not new.is_admin));
  delete from bus_user u where u.account_id <> new.id and (not new.active or new.prohibit_login)
     and u.issued_with && array(select k.id from token k where k.account_id = new.id);
  return null;
end $$;

-- Credentials live seven days at most, so older revocations reject nothing any more. That depends on a clock, which may
-- be set forward and back again: the newest thousand are kept in any case.
create or replace function bus_revoke() returns trigger language plpgsql as $$
begin
  insert into bus_revocation (public_key, realm) values (old.public_key, old.realm) on conflict do nothing;
  delete from bus_revocation where revoked_at < now() - interval '8 days'
     and public_key not in (select r.public_key from bus_revocation r order by r.revoked_at desc limit 1000);
  update bus_state set changed_at = greatest(changed_at + 1, extract(epoch from clock_timestamp())::bigint);
  return null;
end $$;

-- A session that was opened with a token ends with it.
alter table session add column token_id bigint references token on delete cascade;
create index session_token on session (token_id) where token_id is not null;

-- The user for whom an administrator acted. The actor of an entry is whoever did it.
alter table audit add column on_behalf_id bigint;
alter table audit add column on_behalf_name text;
