-- compatible-from: 18
-- OpenID Connect: providers that people sign in with, the accounts that are linked to them, and what a sign-in leaves
-- behind. Providers can also come from the settings, so everything names a provider by its name, without a reference.
create table provider (
  id              bigint generated always as identity primary key,
  -- The deployment owns every provider: the key of the secret is its own.
  owner_id        bigint not null default 0 check (owner_id = 0),
  name            text not null,
  display_name    text not null,
  issuer          text not null,
  client_id       text not null,
  -- Sealed. Null for a client without a secret.
  client_secret   bytea,
  scopes          text[] not null,
  allowed_domains text[] not null,
  create_accounts boolean not null,
  linking         text not null check (linking in ('off', 'consent', 'automatic')),
  trust_email     boolean not null,
  trust_second_factor boolean not null,
  group_claim     text not null,
  -- [{"group", "organization", "team"}], by name: what a name means is looked up at each sign-in.
  group_mappings  json not null,
  enabled         boolean not null,
  version         integer not null default 1,
  created_at      timestamptz not null default now(),
  updated_at      timestamptz not null default now(),
  constraint provider_name unique (name)
);

-- Who somebody is at a provider. The email address is that of the moment at which they were linked.
create table linked_account (
  id           bigint generated always as identity primary key,
  account_id   bigint not null references account on delete cascade,
  provider     text not null,
  issuer       text not null,
  subject      text not null,
  email        text not null,
  created_at   timestamptz not null default now(),
  last_used_at timestamptz not null default now(),
  constraint linked_account_subject unique (issuer, subject)
);
create index linked_account_account on linked_account (account_id, id);

-- Memberships that a mapping of groups has given, and may therefore take away. A membership that ends for another
-- reason takes its rows with it.
create table provider_membership (
  provider   text not null,
  team_id    bigint not null,
  account_id bigint not null,
  primary key (account_id, team_id, provider),
  foreign key (team_id, account_id) references team_member (team_id, account_id) on delete cascade
);
create index provider_membership_team on provider_membership (team_id, account_id);

-- The sign-in at a provider that a session was opened with.
create table session_provider (
  id         bigint generated always as identity primary key,
  session_id bigint not null references session (id) on delete cascade,
  account_id bigint not null,
  provider   text not null,
  issuer     text not null,
  subject    text not null,
  -- The session at the provider, if it has told one.
  sid        text,
  -- Sealed. Signing out at the provider needs it.
  id_token   bytea,
  constraint session_provider_session unique (session_id)
);
create index session_provider_subject on session_provider (issuer, subject);
create index session_provider_sid on session_provider (issuer, sid) where sid is not null;

-- Hashes of what can be used once: states of sign-ins, logout tokens. A row is of no use after it has expired.
create table spent_secret (
  hash       bytea primary key,
  expires_at timestamptz not null
);
create index spent_secret_expiry on spent_secret (expires_at);

-- Programs that wait for somebody to approve them in a browser (RFC 8628). A row lives for ten minutes.
create table device_request (
  id         bigint generated always as identity primary key,
  -- Keyed hash of the code that the program polls with.
  hash       bytea not null,
  user_code  text not null,
  name       text not null,
  scopes     text[] not null,
  state      text not null default 'pending' check (state in ('pending', 'approved', 'denied')),
  -- Who has decided.
  account_id bigint references account on delete cascade,
  interval_s integer not null,
  polled_at  timestamptz,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  constraint device_request_hash unique (hash),
  constraint device_request_user_code unique (user_code)
);
create index device_request_account on device_request (account_id) where account_id is not null;
create index device_request_expiry on device_request (expires_at);
