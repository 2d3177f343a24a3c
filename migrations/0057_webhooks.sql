-- compatible-from: 40
-- Webhooks of organizations and of the deployment (owner 0), what waits to be sent to them and what was, and the events of
-- the last days, for those that are sent again.
create table webhook (
  id              bigint generated always as identity primary key,
  uid             uuid not null unique,
  owner_id        bigint not null,
  organization_id bigint references account (id) on delete cascade,
  url             text not null,
  types           text[] not null,
  format          text not null check (format in ('standard', 'cloudevents')),
  active          boolean not null,
  disabled_reason text check (disabled_reason in ('failing', 'gone', 'creator', 'restored')),
  disabled_at     timestamptz,
  -- Whose owners were not told yet that it was disabled.
  is_untold       boolean not null default false,
  sealed          bytea not null,
  -- The secret before the present one also signs until then.
  sealed_before   bytea,
  before_until    timestamptz,
  -- Whose rights count: a user, or a robot as a negative number, and the scopes of the token that was used.
  creator_id      bigint not null,
  scopes          text[] not null,
  -- It hears of what is newer.
  since_revision  bigint not null,
  -- From when on its events are kept, also while it is not active.
  made_revision   bigint not null,
  -- Events were dropped, and the receiver is to be told why.
  reset_reason    text,
  last_delivery_at timestamptz,
  created_at      timestamptz not null default now(),
  updated_at      timestamptz not null default now(),
  version         integer not null default 1,
  constraint webhook_owner check (owner_id = coalesce(organization_id, 0))
);
create index webhook_organization on webhook (owner_id, id);
create index webhook_account on webhook (organization_id) where organization_id is not null;
create index webhook_untold on webhook (id) where is_untold;

create table webhook_delivery (
  id                bigint generated always as identity primary key,
  webhook_id        bigint not null references webhook (id) on delete cascade,
  event             text not null,
  type              text not null,
  revision          bigint not null,
  place             integer not null,
  at                timestamptz not null,
  -- What changed, as the revision notes it, and as events call it.
  kind              text not null,
  object_kind       text not null,
  object_id         bigint not null,
  organization_id   bigint,
  organization_name text,
  -- Of events.reset.
  reason            text,
  state             text not null default 'pending' check (state in ('pending', 'delivered', 'failed', 'withheld')),
  attempts          jsonb not null default '[]',
  -- Since it was queued, or queued again.
  tries             integer not null default 0,
  first_attempt_at  timestamptz,
  next_attempt_at   timestamptz not null default now(),
  created_at        timestamptz not null default now(),
  constraint webhook_delivery_event unique (webhook_id, event)
);
create index webhook_delivery_list on webhook_delivery (webhook_id, id);
create index webhook_delivery_created on webhook_delivery (created_at);
create index webhook_delivery_due on webhook_delivery (webhook_id, next_attempt_at) where state = 'pending';
create index webhook_delivery_object on webhook_delivery (webhook_id, object_kind, object_id, revision, place)
  where state = 'pending';

create table webhook_event (
  revision          bigint not null,
  place             integer not null,
  at                timestamptz not null,
  kind              text not null,
  object_id         bigint not null,
  organization_id   bigint,
  organization_name text,
  action            text,
  primary key (revision, place)
);
create index webhook_event_at on webhook_event (at);
create index webhook_event_organization on webhook_event (organization_id, revision);

-- One process sends at a time. It has read all changes up to the revision.
create table webhook_sender (
  id       integer primary key check (id = 1),
  holder   text,
  until    timestamptz not null default now(),
  revision bigint not null default 0,
  stamp    uuid,
  -- Raised by what is queued elsewhere.
  poke     bigint not null default 0
);
insert into webhook_sender (id) values (1);

-- The keys that every message is signed with, besides the secret of its webhook.
create table webhook_key (
  id         bigint generated always as identity primary key,
  owner_id   bigint not null default 0 check (owner_id = 0),
  kid        text not null unique,
  public_key text not null,
  sealed     bytea not null,
  created_at timestamptz not null default now(),
  retires_at timestamptz
);
