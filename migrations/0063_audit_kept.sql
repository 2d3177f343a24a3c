-- compatible-from: 55
-- Entries that are archived, and that something in the database still needs: who created a token, which decides who may
-- approve what is requested with it; and what proves the record of an access review. Each goes with its object.
create table audit_kept (
  id              bigint primary key,
  organization_id bigint not null,
  action          text not null,
  actor_id        bigint not null,
  at              timestamptz not null,
  after           text,
  hash            bytea not null,
  token_id        bigint references token (id) on delete cascade,
  review_id       bigint references review (id) on delete cascade,
  check (num_nonnulls(token_id, review_id) = 1)
);
create index audit_kept_token on audit_kept (token_id) where token_id is not null;
create index audit_kept_review on audit_kept (review_id) where review_id is not null;
