-- compatible-from: 18
-- Second factors: passkeys, authenticator apps and recovery codes. Releases that know nothing of them go on to accept a
-- password alone, so nobody should add one before the last replica of such a release has stopped.
create table passkey (
  id bigint generated always as identity primary key,
  account_id bigint not null references account (id) on delete cascade,
  -- What the authenticator calls it.
  credential_id bytea not null,
  -- SubjectPublicKeyInfo, as DER.
  public_key bytea not null,
  -- The last one that was seen. Authenticators that do not count always say 0.
  counter bigint not null,
  transports text[] not null default '{}',
  -- Whether it is synchronized to other devices of its owner.
  is_synced boolean not null default false,
  name text not null,
  created_at timestamptz not null default now(),
  last_used_at timestamptz,
  constraint passkey_credential unique (credential_id)
);
create index passkey_account on passkey (account_id);

-- An account has one authenticator app at most. The ID tells a new one from the one that it replaces.
create table totp (
  id bigint generated always as identity,
  account_id bigint primary key references account (id) on delete cascade,
  sealed bytea not null,
  -- The last time step whose code was accepted: no code works twice.
  last_step bigint not null default 0,
  -- Wrong codes since the last right one, and until when no further code is looked at.
  failures integer not null default 0,
  blocked_until timestamptz,
  created_at timestamptz not null default now(),
  last_used_at timestamptz
);
create unique index totp_id on totp (id);

create table recovery_code (
  account_id bigint not null references account (id) on delete cascade,
  -- Keyed, like the hashes of tokens.
  hash bytea not null,
  created_at timestamptz not null default now(),
  used_at timestamptz,
  constraint recovery_code_pkey primary key (account_id, hash)
);

-- Challenges and sign-ins are not stored when they begin. What is stored is that one was used, until it expires anyway.
create table used_proof (
  hash bytea primary key,
  expires_at timestamptz not null
);
create index used_proof_expiry on used_proof (expires_at);

-- How and when the user of a session last proved who they are. Null means with the token of the session or else with a
-- password, and when it was opened.
alter table session add column method text;
alter table session add column proven_at timestamptz;

-- Whether all members of an organization need a second factor.
alter table account add column requires_second_factor boolean not null default false;
create index account_requires_second_factor on account (id) where requires_second_factor;
