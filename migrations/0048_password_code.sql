-- compatible-from: 40
-- Whether somebody has opened a link that was sent to the address. Without EMAIL_CONFIRMATION, "verified" does not say so.
alter table email add column confirmed_at timestamptz;

-- Codes in links that set a new password. Those that have ended are kept for a while, so that the answer can say so.
create table password_code (
  hash       bytea       primary key,
  account_id bigint      not null references account (id) on delete cascade,
  -- The address that the code was sent to; null if a site administrator created the link.
  email_id   bigint,
  -- A digest of the password and the primary address at that time. The code ends when one of them changes.
  state      bytea       not null,
  expires_at timestamptz not null,
  ended_at   timestamptz
);
create index password_code_account on password_code (account_id);
create index password_code_expiry on password_code (expires_at);

-- Codes in links that create an account with the address that they were sent to.
create table sign_up_code (
  hash        bytea       primary key,
  address     text        not null,
  address_key text        not null generated always as (lower(address)) stored,
  expires_at  timestamptz not null,
  ended_at    timestamptz
);
create index sign_up_code_address on sign_up_code (address_key);
create index sign_up_code_expiry on sign_up_code (expires_at);

-- Until when an address gets no further email of a kind that anybody can ask for.
create table email_pause (
  kind        text        not null,
  address_key text        not null,
  ends_at     timestamptz not null,
  primary key (kind, address_key)
);
create index email_pause_end on email_pause (ends_at);
