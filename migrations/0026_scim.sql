-- compatible-from: 18
-- What an identity provider says about the people and teams of an organization, by SCIM. A person can be in several
-- organizations, so there is a row for each. At most one of them owns the account: only its provider can change the
-- account itself, or take it out of use. For all others, a person who is not active has no membership, and no more.
create table scim_user (
  organization_id bigint not null references account (id) on delete cascade,
  account_id bigint not null references account (id) on delete cascade,
  user_name text not null,
  user_name_key text not null generated always as (lower(user_name)) stored,
  external_id text,
  display_name text not null default '',
  formatted_name text not null default '',
  given_name text not null default '',
  family_name text not null default '',
  email text not null default '',
  email_type text not null default 'work',
  active boolean not null default true,
  is_owned boolean not null default false,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  primary key (organization_id, account_id)
);
create unique index scim_user_name on scim_user (organization_id, user_name_key);
create unique index scim_user_owned on scim_user (account_id) where is_owned;
create index scim_user_account on scim_user (account_id);
create index scim_user_external on scim_user (organization_id, external_id) where external_id is not null;

-- Memberships of people who are not active. They come back when the person does.
create table scim_suspension (
  team_id bigint not null references team (id) on delete cascade,
  account_id bigint not null references account (id) on delete cascade,
  expires_at timestamptz,
  primary key (team_id, account_id)
);
create index scim_suspension_account on scim_suspension (account_id);

create table scim_group (
  team_id bigint primary key references team (id) on delete cascade,
  external_id text,
  updated_at timestamptz not null default now()
);
