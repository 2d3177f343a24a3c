-- compatible-from: 55
-- Entries of earlier releases name people in clear text, under their hash. When a person is erased, the text is removed,
-- the hash stays, and entries `user.erase` list what was removed.
alter table audit add column is_erased boolean not null default false;
create index audit_erased on audit (organization_id, id) where is_erased;
drop index audit_text_erased;

-- How far these entries were searched, also for people who were erased before; and by what, until that is done.
alter table erasure add column plain_id bigint not null default 0;
alter table erasure add column identifiers text[];

-- What attests that an entry was erased is still needed when it is archived.
alter table audit_kept drop constraint audit_kept_check;
alter table audit_kept add constraint audit_kept_check
  check (num_nonnulls(token_id, review_id) = case when action = 'user.erase' then 0 else 1 end);
