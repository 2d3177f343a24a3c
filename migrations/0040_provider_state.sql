-- compatible-from: 18
-- What a provider did last, by its name: providers of the settings have no row of their own.
create table provider_state (
  provider         text primary key,
  logout_notice_at timestamptz,
  fault_at         timestamptz,
  fault            text
);

-- Until then, the next sign-in with a provider that tells the primary address of the account is linked to it without
-- asking its owner. An administrator has said so, because the owner has no other way to sign in.
alter table account add column relink_until timestamptz;
