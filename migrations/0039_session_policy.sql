-- compatible-from: 18
-- How long sessions last: by the settings, and by each provider for those that were opened with it. Null means what the
-- settings say. Sessions that an earlier release has opened have none of this, and end as that release has said.
alter table provider add column session_hours integer;
alter table provider add column session_idle_minutes integer;
alter table provider add column recheck_minutes integer;
alter table provider add column allow_remember boolean not null default false;

-- Null: a session that is not used does not end because of that.
alter table session add column idle_minutes integer;

-- Whether the provider goes on to vouch for the user of a session is asked with the refresh token.
alter table session_provider add column refresh_token bytea;
-- When it last did, when it is asked next, and from when on the session is of no use if it could not be asked. All null:
-- it is never asked again.
alter table session_provider add column checked_at timestamptz;
alter table session_provider add column check_at timestamptz;
alter table session_provider add column check_until timestamptz;
-- A replica asks until then. The others do not ask meanwhile: most refresh tokens work once.
alter table session_provider add column checking_until timestamptz;

-- What a provider has said about somebody who still has to show a second factor: the tokens are too long for a cookie.
-- A row lives for a few minutes, and a sign-in cannot be finished without it.
create table parked_sign_in (
  id            bigint generated always as identity primary key,
  hash          bytea not null,
  account_id    bigint not null references account on delete cascade,
  provider      text not null,
  issuer        text not null,
  subject       text not null,
  sid           text,
  -- Sealed, like those of sessions.
  id_token      bytea,
  refresh_token bytea,
  expires_at    timestamptz not null,
  constraint parked_sign_in_hash unique (hash)
);
create index parked_sign_in_account on parked_sign_in (account_id);
create index parked_sign_in_subject on parked_sign_in (issuer, subject);
create index parked_sign_in_expiry on parked_sign_in (expires_at);
