-- compatible-from: 18
-- What an OpenFGA server was told, if one is used. It derives from other rows and can be lost: it is then told again.
-- One store for each model, so that releases with two models do not disturb each other during an upgrade.
create table openfga_store (
  id bigint generated always as identity primary key,
  model_hash text not null unique,
  store_id text not null,
  model_id text not null,
  -- Everything up to this revision is in the store; -1 before it was filled for the first time.
  published bigint not null,
  -- Nothing after this revision is in the store.
  publishing bigint not null,
  -- The latest write that is known to be in the store. The store contains it as a tuple, and the next write replaces it.
  fence text not null,
  -- The write that is under way, to be sent again after a crash, and the fence that it leaves.
  pending text,
  next_fence text,
  check ((pending is null) = (next_fence is null))
);

-- What the store contains once the write that is under way has arrived.
create table openfga_tuple (
  store bigint not null references openfga_store (id) on delete cascade,
  account_id bigint not null,
  object text not null,
  relation text not null,
  subject text not null,
  source_kind text not null,
  source_id bigint not null,
  primary key (store, account_id, object, relation, subject, source_kind, source_id)
);
create index openfga_tuple_source on openfga_tuple (store, source_kind, source_id);
