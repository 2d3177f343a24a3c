-- compatible-from: 40
-- How a cluster is reached and governed: the certificates that its API server is verified with, in which way Kubernetes
-- asks, and what its agent has reported that differs from what is recorded.
alter table cluster
  add column ca_bundle          text not null default '',
  add column kube_auth          text not null default 'none',
  add column kube_username      text,
  add column kube_prefix        text,
  add column reported_endpoint  text not null default '',
  add column reported_ca_bundle text not null default '';
alter table cluster
  add constraint cluster_kube_auth check (kube_auth in ('webhook', 'agent', 'none')) not valid,
  add constraint cluster_kube_username check (kube_username in ('login', 'email')) not valid;

-- The keys that tokens for clusters are signed with. The public part is published until the last token has ended.
create table cluster_token_key (
  id         bigint generated always as identity primary key,
  owner_id   bigint not null default 0 check (owner_id = 0),
  kid        text not null unique,
  public_key jsonb not null,
  sealed     bytea not null,
  created_at timestamptz not null default now()
);
