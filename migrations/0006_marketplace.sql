-- What marketplaces sell and customers install. Times of events are text: a marketplace writes seven digits after the
-- second, a timestamp keeps six, and in one fixed form text compares exactly.
create table subscription (
  id                        bigint generated always as identity primary key,
  marketplace               text not null,
  -- The marketplace's own ID without its letter case, so that all spellings of one are one.
  key                       text not null,
  application_id            text not null,
  managed_resource_group_id text not null,
  resource_id_parts         json not null,
  state                     text not null,
  event_time                text not null,
  event_rank                integer not null,
  plan                      json,
  resource_usage_id         text,
  created_at                timestamptz not null default now(),
  updated_at                timestamptz not null default now(),
  constraint subscription_key unique (marketplace, key)
);

-- An installer is made by the operator, is bound once, and carries all that its archive is made from.
create table installer (
  id              text primary key,
  marketplace     text not null,
  -- May be bound on marketplace C without the secret.
  is_test         boolean not null default false,
  created_at      timestamptz not null default now(),
  expires_at      timestamptz not null,
  -- Part of every link's signature: raising it makes all links given so far worthless.
  link_generation integer not null default 1,
  bound_at        timestamptz,
  subscription_id bigint references subscription,
  organization_id bigint references account,
  contract_id     bigint references contract,
  cluster_id      text,
  cloud_account   text,
  admin_login     text,
  domains         text[],
  -- The text as it is archived: a json column would be read with inexact numbers.
  options         text,
  base_url        text,
  version         text,
  claim_id        text
);
create index installer_subscription on installer (subscription_id) where subscription_id is not null;

-- Every delivery, committed before anything is done about it. Nothing secret is in here: the administrator's password
-- is hashed before the row is written, and even the hash goes when the delivery is done.
create table delivery (
  id                  bigint generated always as identity primary key,
  marketplace         text not null,
  natural_key         bytea not null,
  -- Deliveries about the same thing are acted on one after the other.
  subject             text not null,
  event_type          text not null,
  event_time          text not null,
  notification        text not null,
  admin_password_hash text,
  source              text not null,
  request_id          text not null,
  received_at         timestamptz not null default now(),
  -- How often it came, and when last.
  times               integer not null default 1,
  last_at             timestamptz not null default now(),
  state               text not null check (state in ('received', 'done', 'refused', 'dead')),
  reason              text not null default '',
  answer_status       integer,
  -- What a refusal said; with a link, the second in which it expires, from which the same link is made again.
  answer              text,
  link_expires        double precision,
  -- Somebody waited for the answer; false when the sweep finished it.
  answered            boolean not null default false,
  attempts            integer not null default 0,
  next_try_at         timestamptz not null default now() + interval '30 seconds',
  done_at             timestamptz,
  constraint delivery_key unique (natural_key)
);
create index delivery_undone on delivery (next_try_at) where state = 'received';
create index delivery_subject on delivery (subject, id);
create index delivery_marketplace on delivery (marketplace, id);

-- Callers who did not prove themselves, counted: strangers must not be able to fill the disk.
create table delivery_refusal (
  marketplace text not null,
  reason      text not null,
  source      text not null,
  day         date not null,
  times       bigint not null,
  last_at     timestamptz not null,
  primary key (marketplace, reason, source, day)
);

-- What happened to subscriptions and installers, for those who want to be told; written with the change itself.
create table marketplace_event (
  id           bigint generated always as identity primary key,
  uid          text not null,
  type         text not null,
  payload      text not null,
  created_at   timestamptz not null default now(),
  attempts     integer not null default 0,
  next_try_at  timestamptz not null default now(),
  sent_at      timestamptz,
  dead_at      timestamptz
);
create index marketplace_event_unsent on marketplace_event (next_try_at) where sent_at is null and dead_at is null;

-- Live secrets beside those in the settings, as keyed hashes.
create table marketplace_secret (
  marketplace text not null,
  hash        bytea not null,
  created_at  timestamptz not null default now(),
  primary key (marketplace, hash)
);

-- Versions of the published address ranges, and until when each was the published one.
create table address_ranges (
  source        text not null,
  sync_token    bigint not null,
  prefixes      text[] not null,
  etag          text,
  last_modified text,
  first_seen_at timestamptz not null,
  last_seen_at  timestamptz not null,
  primary key (source, sync_token)
);

-- What the central server last said about a standalone organization, and when it may be asked again.
create table claim (
  id              text primary key,
  claimable       boolean not null,
  claimed         boolean not null,
  flags           json not null,
  backoff_seconds integer not null default 0,
  next_at         timestamptz,
  asked_at        timestamptz not null default now()
);

-- The answers of the central server that is built in for demonstrations.
create table central_claim (
  id        text primary key,
  claimable boolean not null,
  claimed   boolean not null
);
