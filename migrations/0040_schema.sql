-- compatible-from: 40
-- baseline-of: 0040_provider_state.sql 89615b4c4e3909f2e0bd126c72e927ea47332671f10600b75e0bf3639b2e54b3 f71fe67a
-- The schema of the first release, by noun. It replaces 40 files. A database that has had all of them has this schema.
-- The view `tuple` is in tuples.sql.

-- Searching -----------------------------------------------------------------------------------------------------------

-- A part of a name is found by index, without an extension of PostgreSQL. A text is cut into all its pieces of three
-- characters, and into what is left at its end. The pieces of a longer text must all be there. A text of one or two
-- characters is the beginning of a piece. What has the pieces is then compared with the text itself.
-- The cost keeps the planner from cutting the text of each row instead of using the index.
-- Few new rows wait to be merged into an index of pieces (gin_pending_list_limit), because every search reads those that
-- wait. Next to each such index, one finds what begins with a text, in the order in which it is shown.
create function search_pieces(text text) returns tsvector language sql immutable parallel safe cost 5000 as $$
  select array_to_tsvector(array_remove(string_to_array(
    regexp_replace(text, '(...)', E'\\1\x01', 'g') || E'\x01'
      || regexp_replace(substr(text, 2), '(...)', E'\\1\x01', 'g') || E'\x01'
      || regexp_replace(substr(text, 3), '(...)', E'\\1\x01', 'g'), E'\x01'), ''))
$$;

-- Revisions and changes -----------------------------------------------------------------------------------------------

-- One clock for the whole deployment. Every write that can change who a caller is, or what a caller may do, takes the
-- next revision as its last statement and says in `change` what it touched.
create table revision (
  id          integer primary key check (id = 1),
  value       bigint not null,
  -- Changes up to this revision have been pruned: a reader that is further behind forgets everything it knows.
  pruned      bigint not null default 0,
  -- After a failover to a standby that lacks the last commits, or a restore to an earlier moment, the numbers of
  -- revisions repeat. So each revision also has a random stamp, and the recent stamps are kept: a reader of a revision
  -- can tell whether this database has been through that very one.
  stamp       uuid not null default gen_random_uuid(),
  -- Changes whenever a guardrail does. Null until there is one: then writers have nothing to ask.
  guardrails  uuid,
  -- Every reader of the revision also asks whether something has expired, a thousand times a second. So the next such
  -- time is in the same row. It may be too early, then the next one is looked up. It must never be too late.
  next_expiry timestamptz
);
insert into revision (id, value) values (1, 0);

create table change (
  revision        bigint not null,
  kind            text   not null,
  id              bigint not null,
  organization_id bigint
);
create index change_revision on change (revision);
create index change_organization on change (organization_id, revision) where organization_id is not null;

create table revision_stamp (
  revision bigint primary key,
  stamp    uuid not null
);
insert into revision_stamp (revision, stamp) select value, stamp from revision;

create function revision_stamp() returns trigger language plpgsql as $$
begin
  if new.value <> old.value then
    new.stamp := gen_random_uuid();
    -- A number that somebody set back by hand comes again.
    insert into revision_stamp (revision, stamp) values (new.value, new.stamp)
      on conflict (revision) do update set stamp = excluded.stamp;
  end if;
  -- The changes after the last pruned revision are still known, so its stamp is kept.
  if new.pruned <> old.pruned then
    delete from revision_stamp where revision < new.pruned;
  end if;
  return new;
end $$;
create trigger revision_stamped before update on revision for each row execute function revision_stamp();

-- Memberships of teams, roles of teams and rotated tokens end at a given time. Ending is a write like any other: the
-- first process that notices that a time has come deletes the rows, before any request is answered. So nothing that is
-- read there has expired.
create function expiry_note() returns trigger language plpgsql as $$
begin
  -- First the lock, then a new look at the row: whoever holds it may be about to set a later time.
  perform 1 from revision where id = 1 for update;
  update revision set next_expiry = new.expires_at
   where id = 1 and (next_expiry is null or next_expiry > new.expires_at);
  return null;
end $$;

-- Accounts ------------------------------------------------------------------------------------------------------------

-- Users and organizations share one ID space and one name space. What an administrator edits, here and below, has a
-- version: it is the ETag, so that two editors never overwrite each other unseen.
create table account (
  id                     bigint generated by default as identity primary key,
  kind                   text not null check (kind in ('user', 'organization')),
  name                   text not null,
  name_key               text not null generated always as (lower(name)) stored,
  full_name              text not null default '',
  description            text not null default '',
  website                text not null default '',
  location               text not null default '',
  language               text not null default '',
  visibility             text not null default 'public' check (visibility in ('public', 'limited', 'private')),
  org_type               text not null default '',
  is_admin               boolean not null default false,
  active                 boolean not null default true,
  prohibit_login         boolean not null default false,
  password_hash          text,
  last_login_at          timestamptz,
  created_at             timestamptz not null default now(),
  updated_at             timestamptz not null default now(),
  followers              bigint not null default 0,
  followings             bigint not null default 0,
  -- The place in the list of followers that was given out last.
  follow_seq             bigint not null default 0,
  version                integer not null default 1,
  -- The user who created an organization, for the limit on how many a user can create. There is no reference: the number
  -- of a deleted user is never given to another.
  founder_id             bigint,
  -- Whether all members of an organization need a second factor.
  requires_second_factor boolean not null default false,
  -- Whether a user has a second factor: among a million users, those without one are found by index.
  has_factor             boolean not null default false,
  -- Whether the last owner of an organization is gone.
  is_ownerless           boolean not null default false,
  -- Until then, the next sign-in with a provider that tells the primary address of the account is linked to it without
  -- asking its owner. An administrator has said so, because the owner has no other way to sign in.
  relink_until           timestamptz,
  constraint account_name unique (name_key)
);
create index account_admin on account (id) where is_admin;
create index account_founder on account (founder_id) where founder_id is not null;
create index account_requires_second_factor on account (id) where requires_second_factor;
-- Organizations in the order of their IDs, without the users between them.
create index account_organization on account (id) where kind = 'organization';
create index account_ownerless on account (id) where is_ownerless;
-- The few users who may not sign in, among all others.
create index account_barred on account (id) where kind = 'user' and (not active or prohibit_login);
create index account_factorless on account (id)
  where kind = 'user' and active and not prohibit_login and not has_factor;
create index user_pieces on account using gin (search_pieces(name_key || ' ' || lower(full_name)))
  with (gin_pending_list_limit = 256) where kind = 'user';
create index organization_pieces on account using gin (search_pieces(name_key || ' ' || lower(full_name)))
  with (gin_pending_list_limit = 256) where kind = 'organization';
create index account_name_order on account (kind, name_key collate "C", id);
create index account_title_order on account (kind, lower(full_name) collate "C") where full_name <> '';

-- How many accounts there are, by blocks of 1,000 IDs: a list of the whole deployment is as fast with a million accounts
-- as with a thousand. Every change adds a row, so that two of them never wait for each other; rows of one block are
-- added up from time to time. The sum of all rows is exact at every moment.
create table account_count (
  id            bigint generated always as identity primary key,
  block         bigint not null,
  users         integer not null,
  -- Those of the users who are deactivated or may not sign in.
  barred        integer not null,
  organizations integer not null
);

create function account_count_come() returns trigger language plpgsql as $$
begin
  insert into account_count (block, users, barred, organizations)
  select id / 1000, count(*) filter (where kind = 'user'),
         count(*) filter (where kind = 'user' and (not active or prohibit_login)),
         count(*) filter (where kind = 'organization')
    from come group by id / 1000;
  return null;
end $$;
create function account_count_go() returns trigger language plpgsql as $$
begin
  insert into account_count (block, users, barred, organizations)
  select id / 1000, -count(*) filter (where kind = 'user'),
         -count(*) filter (where kind = 'user' and (not active or prohibit_login)),
         -count(*) filter (where kind = 'organization')
    from gone group by id / 1000;
  return null;
end $$;
create function account_count_change() returns trigger language plpgsql as $$
begin
  insert into account_count (block, users, barred, organizations)
  values (old.id / 1000, -(old.kind = 'user')::integer,
          -(old.kind = 'user' and (not old.active or old.prohibit_login))::integer, -(old.kind = 'organization')::integer),
         (new.id / 1000, (new.kind = 'user')::integer,
          (new.kind = 'user' and (not new.active or new.prohibit_login))::integer, (new.kind = 'organization')::integer);
  return null;
end $$;
create trigger account_counted after insert on account
  referencing new table as come for each statement execute function account_count_come();
create trigger account_uncounted after delete on account
  referencing old table as gone for each statement execute function account_count_go();
create trigger account_counted_again after update of id, kind, active, prohibit_login on account for each row
  when (old.id <> new.id or old.kind <> new.kind or old.active <> new.active or old.prohibit_login <> new.prohibit_login)
  execute function account_count_change();

-- A name that an account gave up, by a new name or by its deletion, stays reserved for it: an account that took it
-- immediately would get the requests of every client that still uses it. There is no foreign key, because the
-- reservation outlives the account.
create table reserved_name (
  name_key    text primary key,
  name        text not null,
  account_id  bigint not null,
  kind        text not null check (kind in ('user', 'organization')),
  reserved_at timestamptz not null default now(),
  expires_at  timestamptz not null default now() + interval '90 days'
);
create index reserved_name_account on reserved_name (account_id);
create index reserved_name_expiry on reserved_name (expires_at);

-- In the transaction that gives the name up, whatever code writes to account.
create function name_reserve() returns trigger language plpgsql as $$
begin
  delete from reserved_name where expires_at <= now();
  insert into reserved_name (name_key, name, account_id, kind) values (old.name_key, old.name, old.id, old.kind)
    on conflict (name_key) do update set name = excluded.name, account_id = excluded.account_id, kind = excluded.kind,
      reserved_at = excluded.reserved_at, expires_at = excluded.expires_at;
  return null;
end $$;
create trigger account_renamed after update of name on account for each row
  when (old.name_key <> new.name_key) execute function name_reserve();
create trigger account_name_left after delete on account for each row execute function name_reserve();

-- After the row is written, not before: two accounts cannot have a name at the same time, so a transaction that waited
-- for the name here sees the reservation of the account that gave it up.
create function name_refuse_reserved() returns trigger language plpgsql as $$
declare
  held record;
begin
  select account_id, expires_at into held from reserved_name where name_key = new.name_key;
  if not found then
    return null;
  end if;
  if held.account_id <> new.id and held.expires_at > now() then
    raise unique_violation using message = 'the name is reserved for another account', table = 'reserved_name',
      constraint = 'account_name';
  end if;
  delete from reserved_name where name_key = new.name_key;
  return null;
end $$;
create trigger account_named after insert on account for each row execute function name_refuse_reserved();
create trigger account_named_again after update of name on account for each row
  when (old.name_key <> new.name_key) execute function name_refuse_reserved();

-- Email addresses -----------------------------------------------------------------------------------------------------

create table email (
  id          bigint generated by default as identity primary key,
  account_id  bigint not null references account on delete cascade,
  address     text not null,
  address_key text not null generated always as (lower(address)) stored,
  verified    boolean not null,
  is_primary  boolean not null,
  created_at  timestamptz not null default now(),
  constraint email_address unique (address_key)
);
create index email_account on email (account_id, id);
create unique index email_primary on email (account_id) where is_primary;
create index email_pieces on email using gin (search_pieces(address_key)) with (gin_pending_list_limit = 256);

-- Confirmation emails of the last hour. A row outlives the address of the account, so that adding and removing an address
-- again and again does not send one email after another.
create table confirmation_email (
  id          bigint generated always as identity primary key,
  account_id  bigint not null,
  address_key text not null,
  sent_at     timestamptz not null
);
create index confirmation_email_account on confirmation_email (account_id, sent_at);
create index confirmation_email_address on confirmation_email (address_key, sent_at);
create index confirmation_email_sent on confirmation_email (sent_at);

-- Follows -------------------------------------------------------------------------------------------------------------

-- Who follows whom. Any page of a long list must cost the same: each follower has a place (seq) in the list of the user
-- they follow, and places are counted in blocks of a thousand, so that a page is found by adding up block counts.
create table follow (
  id          bigint generated always as identity,
  follower_id bigint not null references account on delete cascade,
  followed_id bigint not null references account on delete cascade,
  seq         bigint not null,
  created_at  timestamptz not null default now(),
  primary key (follower_id, followed_id),
  check (follower_id <> followed_id)
);
create unique index follow_followed on follow (followed_id, seq desc) include (follower_id);
create index follow_follower on follow (follower_id, id desc);

create table follow_block (
  followed_id bigint not null references account on delete cascade,
  block       bigint not null,
  count       bigint not null,
  primary key (followed_id, block)
);

-- Only users can be followed: followers of an organization would see its profile, even if it is private.
create function follow_place() returns trigger language plpgsql as $$
begin
  if not exists (select 1 from account where id = new.followed_id and kind = 'user') then
    return null;
  end if;
  update account set follow_seq = follow_seq + 1, followers = followers + 1
   where id = new.followed_id returning follow_seq into new.seq;
  update account set followings = followings + 1 where id = new.follower_id;
  insert into follow_block (followed_id, block, count) values (new.followed_id, new.seq / 1000, 1)
    on conflict (followed_id, block) do update set count = follow_block.count + 1;
  return new;
end $$;
create trigger follow_place before insert on follow for each row execute function follow_place();

-- A trigger, because rows also go when an account is deleted. Counters change once per statement: with a statement that
-- deletes hundreds of follows of one account, its row changes once, and not hundreds of times, each of which had to look
-- past all versions before it. A loop, because a plan for one account finds it by its key, whatever was planned for
-- before.
create function follow_leave() returns trigger language plpgsql as $$
declare
  one record;
begin
  for one in select followed_id as id, count(*) as count from gone group by followed_id order by followed_id loop
    update account set followers = followers - one.count where id = one.id;
  end loop;
  for one in select follower_id as id, count(*) as count from gone group by follower_id order by follower_id loop
    update account set followings = followings - one.count where id = one.id;
  end loop;
  for one in select followed_id as id, seq / 1000 as block, count(*) as count from gone group by 1, 2 order by 1, 2 loop
    update follow_block set count = count - one.count where followed_id = one.id and block = one.block;
  end loop;
  return null;
end $$;
create trigger follow_leave after delete on follow referencing old table as gone
  for each statement execute function follow_leave();

-- Teams ---------------------------------------------------------------------------------------------------------------

create table team (
  id              bigint generated by default as identity primary key,
  organization_id bigint not null references account on delete cascade,
  name            text not null,
  name_key        text not null generated always as (lower(name)) stored,
  description     text not null default '',
  permission      text not null check (permission in ('none', 'read', 'write', 'admin', 'owner')),
  type            text not null check (type in ('builtin', 'custom')),
  units           text[] not null default '{}',
  created_at      timestamptz not null default now(),
  version         integer not null default 1,
  constraint team_name unique (organization_id, name_key)
);
create index team_pieces on team using gin (search_pieces(name_key)) with (gin_pending_list_limit = 256);
create index team_name_order on team (name_key collate "C", id);

create table team_member (
  team_id    bigint not null references team on delete cascade,
  account_id bigint not null references account on delete cascade,
  created_at timestamptz not null default now(),
  expires_at timestamptz,
  primary key (team_id, account_id)
);
create index team_member_account on team_member (account_id);
create index team_member_expires on team_member (expires_at) where expires_at is not null;
-- At the end of the transaction, when it holds the row of the revision anyway: nothing may be locked after that row.
create constraint trigger team_member_expiry after insert or update of expires_at on team_member
  deferrable initially deferred for each row when (new.expires_at is not null) execute function expiry_note();

-- Organizations whose last owner is gone. A transaction that changes the members of a team holds the lock of that team.
create function owner_come() returns trigger language plpgsql as $$
begin
  update account set is_ownerless = false where is_ownerless and id in (
    select t.organization_id from come c join team t on t.id = c.team_id where t.permission = 'owner');
  return null;
end $$;
create function owner_go() returns trigger language plpgsql as $$
begin
  update account o set is_ownerless = true
   where o.id = any (array (
           select distinct t.organization_id from gone g join team t on t.id = g.team_id where t.permission = 'owner'))
     and not o.is_ownerless and not exists (
       select 1 from team t join team_member m on m.team_id = t.id
        where t.organization_id = o.id and t.permission = 'owner');
  return null;
end $$;
create trigger team_member_owner_come after insert on team_member
  referencing new table as come for each statement execute function owner_come();
create trigger team_member_owner_gone after delete on team_member
  referencing old table as gone for each statement execute function owner_go();

-- Roles ---------------------------------------------------------------------------------------------------------------

create table role (
  id              bigint generated by default as identity primary key,
  organization_id bigint not null references account on delete cascade,
  name            text not null,
  -- The name without its letter case; made by the server, because databases differ in what they do to other alphabets.
  name_key        text not null,
  description     text not null default '',
  version         integer not null default 1,
  created_at      timestamptz not null default now(),
  updated_at      timestamptz not null default now(),
  constraint role_name unique (organization_id, name_key)
);
create index role_pieces on role using gin (search_pieces(name_key)) with (gin_pending_list_limit = 256);
create index role_name_order on role (name_key collate "C", id);

create table role_permission (
  role_id   bigint not null references role on delete cascade,
  namespace text not null,
  action    text not null,
  -- The relation of the model that the pair stands for.
  relation  text not null,
  primary key (role_id, namespace, action)
);

create table role_team (
  role_id     bigint not null references role on delete cascade,
  team_id     bigint not null references team on delete cascade,
  assigned_at timestamptz not null default now(),
  expires_at  timestamptz,
  primary key (role_id, team_id)
);
create index role_team_team on role_team (team_id);
create index role_team_expires on role_team (expires_at) where expires_at is not null;
create constraint trigger role_team_expiry after insert or update of expires_at on role_team
  deferrable initially deferred for each row when (new.expires_at is not null) execute function expiry_note();

-- Guardrails ----------------------------------------------------------------------------------------------------------

-- Statements about who may do what that must stay true. Users, teams and objects are named by ID, without references: a
-- guardrail outlives what it names, and is then about no user.
create table guardrail (
  id              bigint generated always as identity primary key,
  organization_id bigint not null references account (id) on delete cascade,
  name            text not null,
  name_key        text not null,
  description     text not null default '',
  kind            text not null check (kind in ('never', 'always', 'at_least', 'at_most')),
  user_ids        bigint[] not null default '{}',
  team_id         bigint,
  relation        text not null,
  object_type     text not null,
  -- Null means any object of the type.
  object_id       bigint,
  count           integer,
  -- The names of the users, the team and the object when the statement was written, for when they are gone.
  names           json not null default '{}',
  -- Otherwise it is only watched.
  enforce         boolean not null default true,
  version         integer not null default 1,
  -- Which statement this is: what was known about the one before does not count.
  statement       integer not null default 1,
  created_at      timestamptz not null default now(),
  updated_at      timestamptz not null default now(),
  constraint guardrail_name unique (organization_id, name_key)
);
create index guardrail_users on guardrail using gin (user_ids);
create index guardrail_team on guardrail (team_id) where team_id is not null;

-- The guardrails of an organization that do not hold, as of the latest revision; no row if all hold. It is written only
-- by a transaction that has the row of the revision locked. A reference would lock another row after that one, and a
-- writer that waits for the revision may have that row.
create table guardrail_state (
  organization_id bigint primary key,
  violations      json not null
);

-- Clusters ------------------------------------------------------------------------------------------------------------

-- What few clusters have is null: a long list reads it for nothing. Heartbeats write the same rows again and again: with
-- room on its page (fillfactor) a row moves without touching an index.
create table cluster (
  id                     bigint generated by default as identity primary key,
  owner_id               bigint not null references account on delete cascade,
  name                   text not null,
  display_name           text not null default '',
  -- On the message bus a cluster is known by one word that no other cluster has: the UID itself for the first cluster
  -- that has it, and `<uid>_<owner ID>` for the next ones. That word is here.
  uid                    text not null,
  provider               text not null default '',
  vendor                 text not null default '',
  orchestrator_version   text not null default '',
  node_count             integer not null default 0,
  endpoint               text not null default '',
  location               text not null default '',
  hub_cluster_name       text not null default '',
  cluster_set_name       text not null default '',
  is_monitoring_cluster  boolean not null default false,
  phase                  text not null default 'Registered',
  reason                 text not null default '',
  message                text not null default '',
  created_at             timestamptz not null default now(),
  version                integer not null default 1,
  external_id            text not null default '',
  manager_id             bigint,
  hub_cluster_uid        text not null default '',
  hub_cluster_owner_name text not null default '',
  infra_namespace        text not null default '',
  project                text not null default '',
  cluster_managers       text[],
  -- When the cluster last spoke for itself; null for one that never did.
  heartbeat_at           timestamptz,
  constraint cluster_uid unique (uid),
  constraint cluster_name unique (owner_id, name)
) with (fillfactor = 80);
create index cluster_owner on cluster (owner_id, id);
-- A UID is unique for each owner, so that no other owner can keep the owner of a cluster from importing it.
create unique index cluster_owner_uid
  on cluster (owner_id, (case when substr(uid, 37, 1) = '_' then left(uid, 36) else uid end));
create index cluster_pieces on cluster using gin (search_pieces(lower(name) || ' ' || lower(display_name)))
  with (gin_pending_list_limit = 256);
create index cluster_name_order on cluster (lower(name) collate "C", id);
create index cluster_title_order on cluster (lower(display_name) collate "C") where display_name <> '';
-- The orders of the list of all clusters.
create index cluster_name_sort on cluster (name collate "C", id);
create index cluster_created_sort on cluster (created_at, id);
create index cluster_provider on cluster (lower(provider), id);
create index cluster_uid_order on cluster (uid collate "C");

-- Contracts -----------------------------------------------------------------------------------------------------------

create table contract (
  id           bigint generated by default as identity primary key,
  owner_id     bigint not null references account on delete cascade,
  uid          text not null unique,
  name         text not null,
  product      text not null default '',
  starts_at    timestamptz not null default now(),
  ends_at      timestamptz,
  revoked_at   timestamptz,
  version      integer not null default 1,
  features     text[] not null default '{}',
  -- Clusters are named by their UID: a contract may be made before they are imported, and outlive them.
  cluster_uids text[] not null default '{}',
  quota        json not null default '{}'
);
create index contract_owner on contract (owner_id);
create index contract_pieces on contract using gin (search_pieces(lower(name))) with (gin_pending_list_limit = 256);
create index contract_name_order on contract (lower(name) collate "C", id);

-- Robots --------------------------------------------------------------------------------------------------------------

create table robot (
  id          bigint generated by default as identity primary key,
  owner_id    bigint not null references account on delete cascade,
  name        text not null,
  description text not null default '',
  created_at  timestamptz not null default now(),
  version     integer not null default 1,
  constraint robot_name unique (owner_id, name)
);
create index robot_pieces on robot using gin (search_pieces(lower(name))) with (gin_pending_list_limit = 256);
create index robot_name_order on robot (lower(name) collate "C", id);

-- Tokens --------------------------------------------------------------------------------------------------------------

-- The clear text of a token is shown once and kept nowhere: hash is keyed. The tokens of an organization's robots belong
-- to the organization: each robot has names of its own.
create table token (
  id             bigint generated by default as identity primary key,
  account_id     bigint not null references account on delete cascade,
  robot_id       bigint references robot on delete cascade,
  name           text not null,
  hash           bytea not null,
  last_eight     text not null,
  scopes         text[] not null,
  created_at     timestamptz not null default now(),
  last_used_at   timestamptz,
  expires_at     timestamptz,
  -- A token that was rotated works until its `expires_at`, next to its successor. Both IDs are without references: the
  -- successor still says what it replaced when that is gone.
  supersedes     bigint,
  superseded_by  bigint,
  -- Whether the token may be used to rotate itself.
  can_rotate     boolean not null default false,
  -- What the token is limited to, besides its scopes: organizations and single objects, by ID and without references. So
  -- it outlives what it names, and reaches nothing then. Null means no limits.
  limits         json,
  -- The scopes of a token with limits. Its column `scopes` is empty: a statement that does not know limits rejects it.
  limited_scopes text[],
  -- The smallest number of days before its end that its owner was told about by email.
  noticed_days   integer,
  constraint token_hash unique (hash)
);
create index token_account on token (account_id, id);
create index token_robot on token (robot_id);
-- A successor has the name of the token that it replaces.
create unique index token_name on token (account_id, coalesce(robot_id, 0), name) where superseded_by is null;
create index token_expires on token (expires_at) where expires_at is not null;
create index token_superseded on token (expires_at) where superseded_by is not null;
create constraint trigger token_expiry after insert or update of expires_at, superseded_by on token
  deferrable initially deferred for each row when (new.superseded_by is not null) execute function expiry_note();

-- The rules for new tokens: of the deployment, if there is no organization, or for the robots of an organization.
create table token_policy (
  id              bigint generated always as identity primary key,
  organization_id bigint references account (id) on delete cascade,
  -- Null means any.
  max_days        integer,
  expiry_required boolean not null default false,
  personal_tokens text not null default 'everyone' check (personal_tokens in ('everyone', 'members', 'administrators')),
  updated_at      timestamptz not null default now()
);
create unique index token_policy_owner on token_policy (coalesce(organization_id, 0));
-- For deleting an organization.
create index token_policy_organization on token_policy (organization_id);

-- Sessions ------------------------------------------------------------------------------------------------------------

-- Users see where they are signed in, so a session has an ID that is not its hash, and remembers where it came from.
create table session (
  hash         bytea primary key,
  account_id   bigint not null references account on delete cascade,
  csrf         text not null,
  created_at   timestamptz not null default now(),
  expires_at   timestamptz not null,
  -- A session that was opened with a token ends with it.
  token_id     bigint references token on delete cascade,
  id           bigint generated always as identity,
  user_agent   text not null default '',
  ip           text not null default '',
  last_seen_at timestamptz,
  -- How and when its user last proved who they are. Null means with the token of the session or else with a password,
  -- and when it was opened.
  method       text,
  proven_at    timestamptz,
  -- Null: a session that is not used does not end because of that.
  idle_minutes integer
);
create unique index session_id on session (id);
create index session_account on session (account_id);
create index session_expiry on session (expires_at);
create index session_token on session (token_id) where token_id is not null;

-- Second factors ------------------------------------------------------------------------------------------------------

create table passkey (
  id            bigint generated always as identity primary key,
  account_id    bigint not null references account (id) on delete cascade,
  -- What the authenticator calls it.
  credential_id bytea not null,
  -- SubjectPublicKeyInfo, as DER.
  public_key    bytea not null,
  -- The last one that was seen. Authenticators that do not count always say 0.
  counter       bigint not null,
  transports    text[] not null default '{}',
  -- Whether it is synchronized to other devices of its owner.
  is_synced     boolean not null default false,
  name          text not null,
  created_at    timestamptz not null default now(),
  last_used_at  timestamptz,
  constraint passkey_credential unique (credential_id)
);
create index passkey_account on passkey (account_id);

-- An account has one authenticator app at most. The ID tells a new one from the one that it replaces.
create table totp (
  id            bigint generated always as identity,
  account_id    bigint primary key references account (id) on delete cascade,
  sealed        bytea not null,
  -- The last time step whose code was accepted: no code works twice.
  last_step     bigint not null default 0,
  -- Wrong codes since the last right one, and until when no further code is looked at.
  failures      integer not null default 0,
  blocked_until timestamptz,
  created_at    timestamptz not null default now(),
  last_used_at  timestamptz
);
create unique index totp_id on totp (id);

create table recovery_code (
  account_id bigint not null references account (id) on delete cascade,
  -- Keyed, like the hashes of tokens.
  hash       bytea not null,
  created_at timestamptz not null default now(),
  used_at    timestamptz,
  constraint recovery_code_pkey primary key (account_id, hash)
);

create function factor_note() returns trigger language plpgsql as $$
declare
  owner bigint := case tg_op when 'DELETE' then old.account_id else new.account_id end;
  has boolean := exists (select 1 from passkey where account_id = owner) or exists (select 1 from totp where account_id = owner);
begin
  update account set has_factor = has where id = owner and has_factor <> has;
  return null;
end $$;
create trigger passkey_noted after insert or delete on passkey for each row execute function factor_note();
create trigger totp_noted after insert or delete on totp for each row execute function factor_note();

-- Challenges and sign-ins are not stored when they begin. What is stored is that one was used, until it expires anyway.
create table used_proof (
  hash       bytea primary key,
  expires_at timestamptz not null
);
create index used_proof_expiry on used_proof (expires_at);

-- Providers -----------------------------------------------------------------------------------------------------------

-- OpenID Connect: providers that users sign in with, the accounts that are linked to them, and what a sign-in leaves
-- behind. Providers can also come from the settings, so everything names a provider by its name, without a reference.
create table provider (
  id                   bigint generated always as identity primary key,
  -- The deployment owns every provider: the key of the secret is its own.
  owner_id             bigint not null default 0 check (owner_id = 0),
  name                 text not null,
  display_name         text not null,
  issuer               text not null,
  client_id            text not null,
  -- Sealed. Null for a client without a secret.
  client_secret        bytea,
  scopes               text[] not null,
  allowed_domains      text[] not null,
  create_accounts      boolean not null,
  linking              text not null check (linking in ('off', 'consent', 'automatic')),
  trust_email          boolean not null,
  trust_second_factor  boolean not null,
  group_claim          text not null,
  -- [{"group", "organization", "team"}], by name: what a name means is looked up at each sign-in.
  group_mappings       json not null,
  enabled              boolean not null,
  version              integer not null default 1,
  created_at           timestamptz not null default now(),
  updated_at           timestamptz not null default now(),
  -- How long sessions last that were opened with it. Null means what the settings say.
  session_hours        integer,
  session_idle_minutes integer,
  recheck_minutes      integer,
  allow_remember       boolean not null default false,
  constraint provider_name unique (name)
);

-- What a provider did last, by its name: providers of the settings have no row of their own.
create table provider_state (
  provider         text primary key,
  logout_notice_at timestamptz,
  fault_at         timestamptz,
  fault            text
);

-- Who a user is at a provider. The email address is that of the moment at which they were linked.
create table linked_account (
  id           bigint generated always as identity primary key,
  account_id   bigint not null references account on delete cascade,
  provider     text not null,
  issuer       text not null,
  subject      text not null,
  email        text not null,
  created_at   timestamptz not null default now(),
  last_used_at timestamptz not null default now(),
  -- Linked because of its address alone. If its user has a second factor here, the word of a provider that is trusted to
  -- ask for one does not count until they have used theirs once.
  by_address   boolean not null default false,
  constraint linked_account_subject unique (issuer, subject)
);
create index linked_account_account on linked_account (account_id, id);

-- Memberships that a mapping of groups has given, and may therefore take away. A membership that ends for another
-- reason takes its rows with it.
create table provider_membership (
  provider   text not null,
  team_id    bigint not null,
  account_id bigint not null,
  primary key (account_id, team_id, provider),
  foreign key (team_id, account_id) references team_member (team_id, account_id) on delete cascade
);
create index provider_membership_team on provider_membership (team_id, account_id);

-- The sign-in at a provider that a session was opened with.
create table session_provider (
  id             bigint generated always as identity primary key,
  session_id     bigint not null references session (id) on delete cascade,
  account_id     bigint not null,
  provider       text not null,
  issuer         text not null,
  subject        text not null,
  -- The session at the provider, if it has told one.
  sid            text,
  -- Sealed. Signing out at the provider needs it.
  id_token       bytea,
  -- Sealed. Whether the provider still vouches for the user of the session is asked with it.
  refresh_token  bytea,
  -- When it last did, when it is asked next, and from when on the session is of no use if it could not be asked. All
  -- null: it is never asked again.
  checked_at     timestamptz,
  check_at       timestamptz,
  check_until    timestamptz,
  -- A replica asks until then. The other replicas do not ask meanwhile: most refresh tokens work once.
  checking_until timestamptz,
  constraint session_provider_session unique (session_id)
);
create index session_provider_subject on session_provider (issuer, subject);
create index session_provider_sid on session_provider (issuer, sid) where sid is not null;

-- What a provider has said about a user who still has to show a second factor: the tokens are too long for a cookie.
-- A row lives for a few minutes, and a sign-in cannot be finished without it.
create table parked_sign_in (
  id            bigint generated always as identity primary key,
  hash          bytea not null,
  account_id    bigint not null references account on delete cascade,
  provider      text not null,
  issuer        text not null,
  subject       text not null,
  sid           text,
  -- Sealed, like those of sessions.
  id_token      bytea,
  refresh_token bytea,
  expires_at    timestamptz not null,
  constraint parked_sign_in_hash unique (hash)
);
create index parked_sign_in_account on parked_sign_in (account_id);
create index parked_sign_in_subject on parked_sign_in (issuer, subject);
create index parked_sign_in_expiry on parked_sign_in (expires_at);

-- Hashes of what can be used once: states of sign-ins, logout tokens. A row is of no use after it has expired.
create table spent_secret (
  hash       bytea primary key,
  expires_at timestamptz not null
);
create index spent_secret_expiry on spent_secret (expires_at);

-- Devices -------------------------------------------------------------------------------------------------------------

-- Programs that wait for a user to approve them in a browser (RFC 8628). A row lives for ten minutes.
create table device_request (
  id         bigint generated always as identity primary key,
  -- Keyed hash of the code that the program polls with.
  hash       bytea not null,
  user_code  text not null,
  name       text not null,
  scopes     text[] not null,
  state      text not null default 'pending' check (state in ('pending', 'approved', 'denied')),
  -- Who has decided.
  account_id bigint references account on delete cascade,
  interval_s integer not null,
  polled_at  timestamptz,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  -- An approved program gets its token only while the session that approved it lasts.
  session_id bigint references session (id) on delete cascade,
  -- Where the program began, for the audit log.
  address    text not null default '',
  constraint device_request_hash unique (hash),
  constraint device_request_user_code unique (user_code)
);
create index device_request_account on device_request (account_id) where account_id is not null;
create index device_request_expiry on device_request (expires_at);
create index device_request_session on device_request (session_id) where session_id is not null;

-- SCIM ----------------------------------------------------------------------------------------------------------------

-- What an identity provider says about the people and teams of an organization, by SCIM. A person can be in several
-- organizations, so there is a row for each. At most one of them owns the account: only its provider can change the
-- account itself, or take it out of use. For all others, a person who is not active has no membership, and no more.
create table scim_user (
  organization_id bigint not null references account (id) on delete cascade,
  account_id      bigint not null references account (id) on delete cascade,
  user_name       text not null,
  user_name_key   text not null generated always as (lower(user_name)) stored,
  external_id     text,
  display_name    text not null default '',
  formatted_name  text not null default '',
  given_name      text not null default '',
  family_name     text not null default '',
  email           text not null default '',
  email_type      text not null default 'work',
  active          boolean not null default true,
  is_owned        boolean not null default false,
  created_at      timestamptz not null default now(),
  updated_at      timestamptz not null default now(),
  primary key (organization_id, account_id)
);
create unique index scim_user_name on scim_user (organization_id, user_name_key);
create unique index scim_user_owned on scim_user (account_id) where is_owned;
create index scim_user_account on scim_user (account_id);
create index scim_user_external on scim_user (organization_id, external_id) where external_id is not null;

-- Memberships of people who are not active. They come back when the person does.
create table scim_suspension (
  team_id    bigint not null references team (id) on delete cascade,
  account_id bigint not null references account (id) on delete cascade,
  expires_at timestamptz,
  primary key (team_id, account_id)
);
create index scim_suspension_account on scim_suspension (account_id);

create table scim_group (
  team_id     bigint primary key references team (id) on delete cascade,
  external_id text,
  updated_at  timestamptz not null default now()
);

-- Which organization had a name of SCIM_DOMAINS when it was first provisioned under it. It outlives the organization:
-- another one that gets the name does not get the domain, until the operator has confirmed it.
create table scim_name (
  name_key        text primary key,
  organization_id bigint not null,
  created_at      timestamptz not null default now()
);

-- Secrets at rest -----------------------------------------------------------------------------------------------------

-- The key ring: keys that are themselves kept wrapped, one slot for each root key that may open them. So a root key can
-- be replaced while servers run, and nothing that depends on the ring has to change with it.
create table ring_key (
  id         bigint generated always as identity primary key,
  -- house: what every purpose derives its own key from, for good; vault: wraps data keys, renewed by a rotation
  purpose    text not null check (purpose in ('house', 'vault')),
  created_at timestamptz not null default now(),
  retired_at timestamptz
);
create unique index ring_key_current on ring_key (purpose) where retired_at is null;

create table key_slot (
  ring_key_id bigint not null references ring_key on delete cascade,
  -- The fingerprint of the root key.
  root        text not null,
  wrapped     bytea not null,
  primary key (ring_key_id, root)
);

-- What values are sealed with. Every sealed value contains the ID of its key, so retired keys still open what they
-- sealed.
create table data_key (
  id          bigint generated always as identity primary key,
  -- An account, or 0 for the deployment itself.
  owner_id    bigint not null,
  ring_key_id bigint not null references ring_key,
  wrapped     bytea not null,
  created_at  timestamptz not null default now(),
  retired_at  timestamptz
);
create unique index data_key_current on data_key (owner_id) where retired_at is null;
create index data_key_ring on data_key (ring_key_id);

-- Credentials and orders ----------------------------------------------------------------------------------------------

create table credential (
  id         bigint generated always as identity primary key,
  owner_id   bigint not null references account on delete cascade,
  name       text not null,
  -- Copied out of the sealed spec, for filters and the audit log.
  type       text not null,
  sealed     bytea not null,
  version    integer not null default 1,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  constraint credential_name unique (owner_id, name)
);

create table deploy_order (
  uid        uuid primary key,
  owner_id   bigint not null references account on delete cascade,
  name       text not null,
  spec       json not null,
  created_at timestamptz not null default now()
);
create index deploy_order_owner on deploy_order (owner_id);

-- The message bus -----------------------------------------------------------------------------------------------------

-- The keys of the message bus: the operator and its accounts, made on first need. Seeds are sealed by the vault, owner 0.
create table bus_key (
  id         bigint generated always as identity primary key,
  owner_id   bigint not null default 0 check (owner_id = 0),
  name       text not null unique check (name in ('operator', 'system', 'application', 'administration')),
  public_key text not null,
  seed       bytea not null,
  created_at timestamptz not null default now()
);

-- What the bus is told about its accounts is a function of these tables. Every change moves this clock on, in whole
-- seconds since 1970, and becomes the time of issue of what is told: later is newer, on every replica.
create table bus_state (
  id         integer primary key check (id = 1),
  changed_at bigint not null
);
insert into bus_state (id, changed_at) values (1, extract(epoch from now())::bigint);

-- A user on the bus: one key for each account of the bus that they may use. Seeds are sealed by the vault, owner
-- account_id.
create table bus_user (
  id          bigint generated always as identity primary key,
  account_id  bigint not null references account on delete cascade,
  realm       text not null check (realm in ('application', 'administration')),
  public_key  text not null,
  seed        bytea not null,
  -- What the credentials that are out there allow at most: cluster id times 8 plus a bit for each right.
  granted     bigint[] not null default '{}',
  -- The accounts that own these clusters: a change in the graph of one of them may take a right away.
  granted_by  bigint[] not null default '{}',
  created_at  timestamptz not null default now(),
  -- Credentials end with the token that they were obtained with. The key is the user's, so it remembers all these tokens,
  -- also those of an administrator who acted for the user.
  issued_with bigint[] not null default '{}',
  constraint bus_user_realm unique (account_id, realm)
);
create index bus_user_granted_by on bus_user using gin (granted_by);
create index bus_user_issued_with on bus_user using gin (issued_with);

-- Keys that the bus has to reject, and since when. No row here is ever taken back: a user who returns gets a new key.
create table bus_revocation (
  public_key text primary key,
  realm      text not null,
  revoked_at timestamptz not null default now()
);

-- A key that leaves bus_user in any way is revoked in the same transaction, also when its account is deleted. Credentials
-- live seven days at most, so older revocations reject nothing any more. That depends on a clock, which may be set
-- forward and back again: the newest thousand are kept in any case.
create function bus_revoke() returns trigger language plpgsql as $$
begin
  insert into bus_revocation (public_key, realm) values (old.public_key, old.realm) on conflict do nothing;
  delete from bus_revocation where revoked_at < now() - interval '8 days'
     and public_key not in (select r.public_key from bus_revocation r order by r.revoked_at desc limit 1000);
  update bus_state set changed_at = greatest(changed_at + 1, extract(epoch from clock_timestamp())::bigint);
  return null;
end $$;
create trigger bus_user_gone after delete on bus_user for each row execute function bus_revoke();

-- Whatever writes to account: a user who may not sign in is not on the bus either. Tokens of an account that may not be
-- used are as good as revoked, also for what they obtained for other users.
create function bus_dismiss() returns trigger language plpgsql as $$
begin
  delete from bus_user u where u.account_id = new.id
     and (not new.active or new.prohibit_login or (u.realm = 'administration' and not new.is_admin));
  delete from bus_user u where u.account_id <> new.id and (not new.active or new.prohibit_login)
     and u.issued_with && array(select k.id from token k where k.account_id = new.id);
  return null;
end $$;
create trigger account_leaves_bus after update of active, prohibit_login, is_admin on account for each row
  when (not new.active or new.prohibit_login or (old.is_admin and not new.is_admin)) execute function bus_dismiss();

-- However a token ends, also with its account.
create function bus_forget_token() returns trigger language plpgsql as $$
begin
  delete from bus_user where issued_with @> array[old.id];
  return null;
end $$;
create trigger token_leaves_bus after delete on token for each row execute function bus_forget_token();

-- The audit log -------------------------------------------------------------------------------------------------------

-- Who changed what. The rows of one organization are chained: each holds the hash of the one before.
create table audit (
  id              bigint generated always as identity primary key,
  at              timestamptz not null,
  organization_id bigint not null,
  actor_id        bigint not null,
  actor_name      text not null,
  action          text not null,
  object_type     text not null,
  object_id       bigint not null,
  before          json,
  after           json,
  request_id      text not null,
  previous_hash   bytea not null,
  hash            bytea not null,
  -- The user for whom an administrator acted, who is the actor.
  on_behalf_id    bigint,
  on_behalf_name  text
);
create index audit_organization on audit (organization_id, id);
-- A page of the audit log must not cost more the longer the log is, also for one organization among many and if nothing
-- is found: each way of looking for rows finds them in the order in which they are shown, newest first, so that a page is
-- the first rows of an index and a time is a place in it. Statements compare all columns of one of these indexes as a
-- row, and order by all of them, so that no plan has another choice.
--
-- The same moment is spelled in three ways (at, at in UTC, at in GMT). An index in one spelling cannot serve a statement
-- in another: else the planner, which assumes that the rows of an actor are spread evenly, would take the index of all
-- times and read a million rows to find the few of an actor who was here long ago.
create index audit_at on audit ((at at time zone 'GMT'), id);
create index audit_organization_at on audit (organization_id, (at at time zone 'UTC'), id);
create index audit_actor on audit (actor_id, at, id, organization_id);
create index audit_object on audit (object_type, object_id, at, id);
create index audit_object_type on audit (object_type, at, id, organization_id, actor_id);
create index audit_action_at on audit (action, at, id);
create index audit_organization_actor on audit (organization_id, actor_id, at, id);
create index audit_organization_type on audit (organization_id, object_type, at, id);
create index audit_organization_action on audit (organization_id, action, at, id);

-- How far the chain of an organization has been verified: its entries up to last_id are that many, and the last of them
-- has this hash. Signed with a key that is not in the database, so that neither the entries before it nor the checkpoint
-- itself can be rewritten unnoticed. Not deleted with the organization, as the entries are not.
create table audit_checkpoint (
  organization_id bigint not null,
  last_id         bigint not null,
  entries         bigint not null,
  hash            bytea not null,
  created_at      timestamptz not null,
  signature       bytea not null,
  primary key (organization_id, last_id)
);

-- Idempotency ---------------------------------------------------------------------------------------------------------

-- What a request with an Idempotency-Key was answered with. The row is written in the transaction that does what the
-- request asks for, so a client that did not get the answer can send the request again and has it done only once.
create table idempotency_key (
  id          bigint generated always as identity primary key,
  -- The caller. Not a reference: that would lock the account, in another order than the removal of an account does.
  account_id  bigint not null,
  -- Keyed hash of the caller, the route and the key.
  hash        bytea not null,
  -- Keyed hash of everything that a repeated request must have in common with the first.
  fingerprint bytea not null,
  -- The response, which can contain the text of a new token.
  sealed      bytea not null,
  created_at  timestamptz not null,
  constraint idempotency_key_hash unique (hash)
);
create index idempotency_key_account on idempotency_key (account_id, created_at);
create index idempotency_key_created on idempotency_key (created_at);

-- OpenFGA -------------------------------------------------------------------------------------------------------------

-- What an OpenFGA server was told, if one is used. It derives from other rows and can be lost: it is then told again.
-- One store for each model, so that releases with two models do not disturb each other during an upgrade.
create table openfga_store (
  id         bigint generated always as identity primary key,
  model_hash text not null unique,
  store_id   text not null,
  model_id   text not null,
  -- Everything up to this revision is in the store; -1 before it was filled for the first time.
  published  bigint not null,
  -- Nothing after this revision is in the store.
  publishing bigint not null,
  -- The latest write that is known to be in the store. The store contains it as a tuple, and the next write replaces it.
  fence      text not null,
  -- The write that is under way, to be sent again after a crash, and the fence that it leaves.
  pending    text,
  next_fence text,
  check ((pending is null) = (next_fence is null))
);

-- What the store contains once the write that is under way has arrived.
create table openfga_tuple (
  store       bigint not null references openfga_store (id) on delete cascade,
  account_id  bigint not null,
  object      text not null,
  relation    text not null,
  subject     text not null,
  source_kind text not null,
  source_id   bigint not null,
  primary key (store, account_id, object, relation, subject, source_kind, source_id)
);
create index openfga_tuple_source on openfga_tuple (store, source_kind, source_id);

-- The marketplace -----------------------------------------------------------------------------------------------------

-- What marketplaces sell and customers install. Times of events are text: a marketplace writes seven digits after the
-- second, a timestamp keeps six, and in one fixed form text compares exactly.
create table subscription (
  id                        bigint generated always as identity primary key,
  marketplace               text not null,
  -- The marketplace's own ID without its letter case, so that all spellings of one are one.
  key                       text not null,
  application_id            text not null,
  managed_resource_group_id text not null,
  resource_id_parts         json not null,
  state                     text not null,
  event_time                text not null,
  event_rank                integer not null,
  plan                      json,
  resource_usage_id         text,
  created_at                timestamptz not null default now(),
  updated_at                timestamptz not null default now(),
  constraint subscription_key unique (marketplace, key)
);
create index subscription_state on subscription (state, id);

-- An installer is made by the operator, is bound once, and carries all that its archive is made from. It outlives the
-- organization and the contract that it was bound to: it stays bound, so that no customer can bind it again, but to
-- nothing any more.
create table installer (
  id              text primary key,
  marketplace     text not null,
  -- May be bound on marketplace C without the secret.
  is_test         boolean not null default false,
  created_at      timestamptz not null default now(),
  expires_at      timestamptz not null,
  -- Part of every link's signature: raising it makes all links given so far worthless.
  link_generation integer not null default 1,
  bound_at        timestamptz,
  subscription_id bigint references subscription,
  organization_id bigint references account on delete set null,
  contract_id     bigint references contract on delete set null,
  cluster_id      text,
  cloud_account   text,
  admin_login     text,
  domains         text[],
  -- Options in clear, as an older version kept them. Servers empty it as they run; see installer_options.
  options         text,
  base_url        text,
  version         text,
  claim_id        text,
  -- The contract was revoked because its subscription was deleted: then, and only then, a bind makes it good again.
  contract_lapsed boolean not null default false
);
create index installer_subscription on installer (subscription_id) where subscription_id is not null;
create index installer_organization on installer (organization_id) where organization_id is not null;
create index installer_contract on installer (contract_id) where contract_id is not null;
-- Installers, newest first, of all marketplaces and of one.
create index installer_created on installer (created_at, id);
create index installer_marketplace on installer (marketplace, created_at, id);

-- Every delivery, committed before anything is done about it. Nothing secret is in here: the administrator's password
-- is hashed before the row is written, and even the hash goes when the delivery is done.
create table delivery (
  id                  bigint generated always as identity primary key,
  marketplace         text not null,
  natural_key         bytea not null,
  -- Deliveries about the same thing are acted on one after the other.
  subject             text not null,
  event_type          text not null,
  event_time          text not null,
  notification        text not null,
  admin_password_hash text,
  source              text not null,
  request_id          text not null,
  received_at         timestamptz not null default now(),
  -- How often it came, and when last.
  times               integer not null default 1,
  last_at             timestamptz not null default now(),
  state               text not null check (state in ('received', 'done', 'refused', 'dead')),
  reason              text not null default '',
  answer_status       integer,
  -- What a rejection said; with a link, the second in which it expires, from which the same link is made again.
  answer              text,
  link_expires        double precision,
  -- Whether a client waited for the answer; false when the sweep finished it.
  answered            boolean not null default false,
  attempts            integer not null default 0,
  next_try_at         timestamptz not null default now() + interval '30 seconds',
  done_at             timestamptz,
  constraint delivery_key unique (natural_key)
);
create index delivery_undone on delivery (next_try_at) where state = 'received';
create index delivery_subject on delivery (subject, id);
create index delivery_marketplace on delivery (marketplace, id);
-- For the number of rejected deliveries that are kept.
create index delivery_refused on delivery (marketplace, source) where state = 'refused';
-- Deliveries in one state, such as those that are dead, without walking over all that are done.
create index delivery_state on delivery (state, id);
create index delivery_received on delivery (received_at, id);
-- What is kept for a limited time is found by its age, here and in marketplace_event.
create index delivery_last on delivery (state, last_at);

-- What customers chose for their installers may hold keys of theirs, so it is kept sealed. The row belongs to the delivery
-- that brought it, and to the installer alone once that is bound.
create table installer_options (
  id           bigint generated always as identity primary key,
  -- Whose data key it is sealed with: that of the deployment, because there is no organization before the bind.
  owner_id     bigint not null default 0,
  installer_id text not null,
  delivery_id  bigint references delivery on delete cascade,
  sealed       bytea not null,
  constraint installer_options_delivery unique (delivery_id)
);
create unique index installer_options_bound on installer_options (installer_id) where delivery_id is null;

-- Callers that did not prove themselves, counted: they must not be able to fill the disk.
create table delivery_refusal (
  marketplace text not null,
  reason      text not null,
  source      text not null,
  day         date not null,
  times       bigint not null,
  last_at     timestamptz not null,
  primary key (marketplace, reason, source, day)
);
-- The latest day first.
create index delivery_refusal_day on delivery_refusal (day, marketplace, reason, source);

-- The outbox: what happened to subscriptions and installers, for the receiver of events; written with the change itself.
create table marketplace_event (
  id          bigint generated always as identity primary key,
  uid         text not null,
  type        text not null,
  payload     text not null,
  created_at  timestamptz not null default now(),
  attempts    integer not null default 0,
  next_try_at timestamptz not null default now(),
  sent_at     timestamptz,
  dead_at     timestamptz
);
create index marketplace_event_unsent on marketplace_event (next_try_at) where sent_at is null and dead_at is null;
-- The few events that are not sent, among the many that are.
create index marketplace_event_open on marketplace_event (id) where sent_at is null;
create index marketplace_event_sent on marketplace_event (sent_at) where sent_at is not null;

-- Live secrets beside those in the settings, as keyed hashes.
create table marketplace_secret (
  marketplace text not null,
  hash        bytea not null,
  created_at  timestamptz not null default now(),
  primary key (marketplace, hash)
);

-- Versions of the published address ranges, and until when each was the published one.
create table address_ranges (
  source        text not null,
  sync_token    bigint not null,
  prefixes      text[] not null,
  etag          text,
  last_modified text,
  first_seen_at timestamptz not null,
  last_seen_at  timestamptz not null,
  primary key (source, sync_token)
);

-- What the central server last said about a standalone organization, and when it may be asked again.
create table claim (
  id              text primary key,
  claimable       boolean not null,
  claimed         boolean not null,
  flags           json not null,
  backoff_seconds integer not null default 0,
  next_at         timestamptz,
  asked_at        timestamptz not null default now()
);

-- The answers of the central server that is built in for demonstrations.
create table central_claim (
  id        text primary key,
  claimable boolean not null,
  claimed   boolean not null
);
