-- compatible-from: 40
-- Tokens that users give to agents. Each ends with the session or the token that it was created with.
alter table token add column delegated boolean not null default false;
alter table token add column session_id bigint;
alter table token add column parent_id bigint;
