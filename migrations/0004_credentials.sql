-- The key ring: keys that are themselves kept wrapped, one slot for each root key that may open them. So a root key can be
-- replaced while servers run, and nothing that hangs on the ring has to change with it.
create table ring_key (
  id         bigint generated always as identity primary key,
  -- house: what every purpose derives its own key from, for good; vault: wraps data keys, renewed by a rotation
  purpose    text not null check (purpose in ('house', 'vault')),
  created_at timestamptz not null default now(),
  retired_at timestamptz
);
create unique index ring_key_current on ring_key (purpose) where retired_at is null;

create table key_slot (
  ring_key_id bigint not null references ring_key on delete cascade,
  -- The fingerprint of the root key.
  root        text not null,
  wrapped     bytea not null,
  primary key (ring_key_id, root)
);

-- What values are sealed with. The key id stands in every sealed value, so retired keys still open what they sealed.
create table data_key (
  id          bigint generated always as identity primary key,
  -- An account, or 0 for the deployment itself.
  owner_id    bigint not null,
  ring_key_id bigint not null references ring_key,
  wrapped     bytea not null,
  created_at  timestamptz not null default now(),
  retired_at  timestamptz
);
create unique index data_key_current on data_key (owner_id) where retired_at is null;
create index data_key_ring on data_key (ring_key_id);

create table credential (
  id         bigint generated always as identity primary key,
  owner_id   bigint not null references account on delete cascade,
  name       text not null,
  -- Copied out of the sealed spec, for filters and the audit log.
  type       text not null,
  sealed     bytea not null,
  version    integer not null default 1,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  constraint credential_name unique (owner_id, name)
);
