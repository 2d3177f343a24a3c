-- compatible-from: 18
-- A token that was rotated works until its `expires_at`, next to its successor. Then it is deleted by whoever notices, as
-- in 0024. Both IDs are without references: the successor still says what it replaced when that is gone.
alter table token add column supersedes bigint;
alter table token add column superseded_by bigint;
-- Whether the token may be used to rotate itself.
alter table token add column can_rotate boolean not null default false;
-- What the token is limited to, besides its scopes: organizations and single objects, by ID and without references. So it
-- outlives what it names, and reaches nothing then. Null means no limits.
alter table token add column limits json;
-- The scopes of a token with limits. Its column `scopes` is empty: releases that know nothing of limits reject it.
alter table token add column limited_scopes text[];
-- The smallest number of days before its end that its owner was told about by email.
alter table token add column noticed_days integer;

-- The successor has the name of the token that it replaces.
drop index token_name;
create unique index token_name on token (account_id, coalesce(robot_id, 0), name) where superseded_by is null;
create index token_expires on token (expires_at) where expires_at is not null;
create index token_superseded on token (expires_at) where superseded_by is not null;

create constraint trigger token_expiry after insert or update of expires_at, superseded_by on token
  deferrable initially deferred for each row when (new.superseded_by is not null) execute function expiry_note();

-- The rules for new tokens: of the deployment, if there is no organization, or for the robots of an organization.
create table token_policy (
  id bigint generated always as identity primary key,
  organization_id bigint references account (id) on delete cascade,
  -- Null means any.
  max_days integer,
  expiry_required boolean not null default false,
  personal_tokens text not null default 'everyone' check (personal_tokens in ('everyone', 'members', 'administrators')),
  updated_at timestamptz not null default now()
);
create unique index token_policy_owner on token_policy (coalesce(organization_id, 0));
