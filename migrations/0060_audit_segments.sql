-- compatible-from: 55
-- Parts of the logs that were written to an archive and removed. Each log begins after its last segment.
create table audit_segment (
  organization_id     bigint not null,
  -- The IDs of the first entry and of the last one, and how many there are.
  first_id            bigint not null,
  last_id             bigint not null,
  entries             integer not null check (entries > 0),
  first_previous_hash bytea not null,
  last_hash           bytea not null,
  closed_at           timestamptz not null,
  key_id              text not null,
  signature           bytea not null,
  -- Everything before this moment was to be archived.
  before_at           timestamptz not null,
  -- The name of the archive.
  place               text not null,
  primary key (organization_id, last_id),
  check (first_id <= last_id)
);
create index audit_segment_before on audit_segment (before_at);
