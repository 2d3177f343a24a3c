-- What else clients of this API family know about a cluster. What few clusters have is null: a long list reads it for nothing.
alter table cluster
  add column external_id            text not null default '',
  add column manager_id             bigint,
  add column hub_cluster_uid        text not null default '',
  add column hub_cluster_owner_name text not null default '',
  add column infra_namespace        text not null default '',
  add column project                text not null default '',
  add column cluster_managers       text[],
  -- When the cluster last spoke for itself; null for one that never did.
  add column heartbeat_at           timestamptz;
-- Heartbeats write the same rows again and again: with room on its page a row moves without touching an index.
alter table cluster set (fillfactor = 80);
create index cluster_owner on cluster (owner_id, id);

alter table contract
  add column features     text[] not null default '{}',
  -- Clusters are named by their UID: a contract may be made before they are imported, and outlive them.
  add column cluster_uids text[] not null default '{}',
  add column quota        json not null default '{}';
-- Is this contract one of a marketplace?
create index if not exists installer_contract on installer (contract_id) where contract_id is not null;

-- The tokens of an organization's robots hang on the organization: each robot has names of its own.
alter table token drop constraint token_name;
create unique index token_name on token (account_id, coalesce(robot_id, 0), name);
