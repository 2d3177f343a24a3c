-- What a request with an Idempotency-Key was answered with. The row is written in the transaction that does what the
-- request asks for, so a client that did not get the answer can send the request again and has it done only once.
create table idempotency_key (
  id          bigint generated always as identity primary key,
  -- The caller. Not a reference: that would lock the account, in another order than the removal of an account does.
  account_id  bigint not null,
  -- Keyed hash of the caller, the route and the key.
  hash        bytea not null,
  -- Keyed hash of everything that a repeated request must have in common with the first.
  fingerprint bytea not null,
  -- The response, which can contain the text of a new token.
  sealed      bytea not null,
  created_at  timestamptz not null,
  constraint idempotency_key_hash unique (hash)
);
create index idempotency_key_account on idempotency_key (account_id, created_at);
create index idempotency_key_created on idempotency_key (created_at);
