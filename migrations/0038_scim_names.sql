-- compatible-from: 18
-- Which organization had a name of SCIM_DOMAINS when it was first provisioned under it. It outlives the organization:
-- another one that gets the name does not get the domain, until the operator has confirmed it.
create table scim_name (
  name_key text primary key,
  organization_id bigint not null,
  created_at timestamptz not null default now()
);
