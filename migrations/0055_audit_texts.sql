-- compatible-from: 55
-- Entries of the audit log name people by a salted hash, so that a person can be erased and every hash stays valid. The
-- text and the salt are here, until the person is erased. The previous release would show the hashes.
create table audit_text (
  organization_id bigint not null,
  -- SHA-256 of the salt and the text, as it is in the entry.
  commitment      bytea not null,
  -- 0 if the text names a person by something else than an ID, such as the address of an invitation.
  account_id      bigint not null,
  -- Null once the person is erased.
  salt            bytea,
  text            text,
  primary key (organization_id, commitment),
  check ((salt is null) = (text is null))
);
create index audit_text_account on audit_text (account_id, organization_id, commitment);
create index audit_text_unknown on audit_text (lower(text)) where account_id = 0;

-- People who are erased. What is written about them later, such as a request that was denied just before, is erased, too.
create table erasure (
  account_id bigint primary key,
  erased_at  timestamptz not null default now()
);

-- The entries of earlier releases, which name people in clear text.
create table audit_plain (
  id      integer primary key default 1 check (id = 1),
  last_id bigint not null
);
insert into audit_plain (last_id) select coalesce(max(id), 0) from audit;
