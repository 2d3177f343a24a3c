-- The keys of the message bus: the operator and its accounts, made on first need. Seeds are sealed by the vault, owner 0.
create table bus_key (
  id         bigint generated always as identity primary key,
  owner_id   bigint not null default 0 check (owner_id = 0),
  name       text not null unique check (name in ('operator', 'system', 'application', 'administration')),
  public_key text not null,
  seed       bytea not null,
  created_at timestamptz not null default now()
);

-- What the bus is told about its accounts is a function of these tables. Every change moves this clock on, in whole seconds
-- since 1970, and becomes the time of issue of what is told: later is newer, on every replica.
create table bus_state (
  id         integer primary key check (id = 1),
  changed_at bigint not null
);
insert into bus_state (id, changed_at) values (1, extract(epoch from now())::bigint);

-- A person on the bus: one key for each account of the bus that they may use. Seeds are sealed by the vault, owner account_id.
create table bus_user (
  id         bigint generated always as identity primary key,
  account_id bigint not null references account on delete cascade,
  realm      text not null check (realm in ('application', 'administration')),
  public_key text not null,
  seed       bytea not null,
  -- What the credentials that are out there allow at most: cluster id times 8 plus a bit for each right.
  granted    bigint[] not null default '{}',
  -- The accounts that own these clusters: a change in the graph of one of them may take a right away.
  granted_by bigint[] not null default '{}',
  created_at timestamptz not null default now(),
  constraint bus_user_realm unique (account_id, realm)
);
create index bus_user_granted_by on bus_user using gin (granted_by);

-- Keys that the bus has to refuse, and since when. No row here is ever taken back: who returns gets a new key.
create table bus_revocation (
  public_key text primary key,
  realm      text not null,
  revoked_at timestamptz not null default now()
);

-- A key that leaves bus_user in any way is revoked in the same transaction, also when its account is deleted. Credentials live
-- seven days at most, so older revocations refuse nothing any more.
create function bus_revoke() returns trigger language plpgsql as $$
begin
  insert into bus_revocation (public_key, realm) values (old.public_key, old.realm) on conflict do nothing;
  delete from bus_revocation where revoked_at < now() - interval '8 days';
  update bus_state set changed_at = greatest(changed_at + 1, extract(epoch from clock_timestamp())::bigint);
  return null;
end $$;
create trigger bus_user_gone after delete on bus_user for each row execute function bus_revoke();

-- Whoever writes to account, now or in a later version: who may not sign in is not on the bus either.
create function bus_dismiss() returns trigger language plpgsql as $$
begin
  delete from bus_user u where u.account_id = new.id
     and (not new.active or new.prohibit_login or (u.realm = 'administration' and not new.is_admin));
  return null;
end $$;
create trigger account_leaves_bus after update of active, prohibit_login, is_admin on account for each row
  when (not new.active or new.prohibit_login or (old.is_admin and not new.is_admin)) execute function bus_dismiss();
