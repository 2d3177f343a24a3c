-- compatible-from: 40
-- Access requests: somebody asks for a relation on an object, until a time, and others decide. What they name has no
-- foreign keys, because a request outlives it: a request whose role, object or requester goes is closed as failed.
create table access_request (
  -- A random number, so that it tells nothing about how many there are.
  id              bigint primary key,
  organization_id bigint not null references account (id) on delete cascade,
  state           text not null,
  by_type         text not null,
  by_id           bigint not null,
  relation        text not null,
  object_type     text not null,
  object_id       bigint not null,
  object_name     text not null,
  namespaces      text[],
  -- The same whatever their order; empty if there are none.
  namespaces_key  text not null default '',
  -- What is changed: a role that is assigned on the object, or a team that is joined.
  role_id         bigint,
  team_id         bigint,
  change_name     text not null,
  reason          text not null,
  -- The request rule that allowed it. Null if the organization had none.
  rule            text,
  approvals       integer not null,
  is_break_glass  boolean not null default false,
  acknowledged_at timestamptz,
  acknowledged_by bigint,
  -- Of a request by a robot: who created the token that asked.
  token_creator   bigint,
  created_at      timestamptz not null,
  closes_at       timestamptz not null,
  closed_at       timestamptz,
  -- Null: never.
  ends_at         timestamptz,
  -- While it is open, the same as closes_at.
  expires_at      timestamptz,
  -- What closed or ended it, if that was not its own call.
  because         text,
  assignment_id   bigint,
  -- What it gives to whom, as of when it was last looked at.
  effects         text not null,
  digest          text not null,
  version         integer not null default 1,
  constraint access_request_state check (
    state in ('open', 'approved', 'denied', 'cancelled', 'expired', 'failed', 'ended')),
  constraint access_request_open check ((state = 'open') = (expires_at is not null)),
  constraint access_request_change check (num_nonnulls(role_id, team_id) = 1)
);
create unique index access_request_same
  on access_request (organization_id, by_type, by_id, relation, object_type, object_id, namespaces_key) where state = 'open';
create index access_request_by on access_request (by_type, by_id, created_at);
create index access_request_organization on access_request (organization_id, created_at);
create index access_request_expires on access_request (expires_at) where expires_at is not null;
create index access_request_assignment on access_request (assignment_id) where state = 'approved';
create index access_request_team on access_request (team_id, by_id) where state = 'approved' and team_id is not null;
create constraint trigger access_request_expiry after insert or update of expires_at on access_request
  deferrable initially deferred for each row when (new.expires_at is not null) execute function expiry_note();

create table access_request_decision (
  request_id bigint not null references access_request on delete cascade,
  user_id    bigint not null,
  is_approval boolean not null,
  comment    text not null,
  -- Of an approval: what was approved.
  digest     text,
  decided_at timestamptz not null,
  primary key (request_id, user_id)
);

-- The rules of an organization, in the order in which they are tried.
create table request_rules (
  organization_id bigint primary key references account (id) on delete cascade,
  rules           text not null,
  version         integer not null default 1
);

-- So that an approver gets at most one email in ten minutes about the same requester and object.
create table access_request_mail (
  organization_id bigint not null references account (id) on delete cascade,
  to_id           bigint not null references account (id) on delete cascade,
  by_type         text not null,
  by_id           bigint not null,
  object_type     text not null,
  object_id       bigint not null,
  sent_at         timestamptz not null,
  primary key (organization_id, to_id, by_type, by_id, object_type, object_id)
);
create index access_request_mail_to on access_request_mail (to_id);
