-- compatible-from: 18
-- How far the chain of an organization has been verified: its entries up to last_id are that many, and the last of them
-- has this hash. Signed with a key that is not in the database, so that neither the entries before it nor the checkpoint
-- itself can be rewritten unnoticed. Not deleted with the organization, as the entries are not.
create table audit_checkpoint (
  organization_id bigint not null,
  last_id bigint not null,
  entries bigint not null,
  hash bytea not null,
  created_at timestamptz not null,
  signature bytea not null,
  primary key (organization_id, last_id)
);
