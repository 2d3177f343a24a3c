-- compatible-from: 18
-- Statements about who may do what that must stay true. Users, teams and objects are named by ID, without references: a
-- guardrail outlives what it names, and is then about nobody.
create table guardrail (
  id bigint generated always as identity primary key,
  organization_id bigint not null references account (id) on delete cascade,
  name text not null,
  name_key text not null,
  description text not null default '',
  kind text not null check (kind in ('never', 'always', 'at_least', 'at_most')),
  user_ids bigint[] not null default '{}',
  team_id bigint,
  relation text not null,
  object_type text not null,
  -- Null means any object of the type.
  object_id bigint,
  count integer,
  -- What the users, the team and the object were called when the statement was written, for when they are gone.
  names json not null default '{}',
  -- Otherwise it is only watched.
  enforce boolean not null default true,
  version integer not null default 1,
  -- Which statement this is: what was known about the one before does not count.
  statement integer not null default 1,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  constraint guardrail_name unique (organization_id, name_key)
);
create index guardrail_users on guardrail using gin (user_ids);
create index guardrail_team on guardrail (team_id) where team_id is not null;

-- The guardrails of an organization that do not hold, as of the latest revision; no row if all hold. It is written only
-- by whoever has the row of the revision locked. A reference would lock another row after that one, and a writer that
-- waits for the revision may have that row.
create table guardrail_state (
  organization_id bigint primary key,
  violations json not null
);

-- Changes whenever a guardrail does. Null until there is one: then writers have nothing to ask.
alter table revision add column guardrails uuid;
