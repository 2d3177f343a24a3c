-- compatible-from: 40
-- Which tokens of other issuers a robot accepts in place of a stored one. A token that is issued for such a token is tied
-- to its rule, and says what it was issued for.
create table trust_rule (
  id               bigint generated always as identity primary key,
  robot_id         bigint not null references robot on delete cascade,
  name             text not null,
  issuer           text not null,
  audience         text not null,
  -- The public keys of an issuer that cannot be asked. Null: they are fetched.
  jwks             json,
  claims           json not null,
  scopes           text[] not null,
  limits           json,
  lifetime_seconds integer not null,
  single_use       boolean not null,
  created_at       timestamptz not null default now(),
  last_used_at     timestamptz,
  version          integer not null default 1,
  constraint trust_rule_name unique (robot_id, name)
);

alter table token
  add column trust_rule_id bigint references trust_rule on delete cascade,
  -- Issuer, subject, rule and jti, as the audit log shows them.
  add column via           json;
create index token_trust_rule on token (trust_rule_id, expires_at) where trust_rule_id is not null;
-- Issued tokens are in no list, so their names may repeat.
drop index token_name;
create unique index token_name on token (account_id, coalesce(robot_id, 0::bigint), name)
  where superseded_by is null and trust_rule_id is null;

alter table audit add column via json;
comment on column audit.via is 'The outside token that a robot acted with: its issuer, its subject, the trust rule and its jti.';
