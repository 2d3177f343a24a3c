-- compatible-from: 40
-- Roles are assigned to teams, users and robots, on the organization or on one of its objects. What was a team of a role
-- is such a row, too.

-- The names that clusters of an organization have or had as their set, so that a set is an object with an ID. Rows stay
-- when the last cluster leaves a set: roles may be assigned on it.
create table cluster_set (
  id              bigint generated always as identity primary key,
  organization_id bigint not null references account (id) on delete cascade,
  name            text not null,
  constraint cluster_set_name unique (organization_id, name)
);
insert into cluster_set (organization_id, name)
  select distinct owner_id, cluster_set_name from cluster where cluster_set_name <> '';
create function cluster_set_note() returns trigger language plpgsql as $$
begin
  insert into cluster_set (organization_id, name)
    select new.owner_id, new.cluster_set_name where not exists (
      select 1 from cluster_set s where s.organization_id = new.owner_id and s.name = new.cluster_set_name)
    on conflict do nothing;
  return null;
end $$;
create trigger cluster_set_of_new after insert on cluster
  for each row when (new.cluster_set_name <> '') execute function cluster_set_note();
create trigger cluster_set_of_moved after update of cluster_set_name on cluster
  for each row when (new.cluster_set_name <> '' and new.cluster_set_name <> old.cluster_set_name)
  execute function cluster_set_note();

-- How many clusters a set has.
create index cluster_set_clusters on cluster (owner_id, cluster_set_name) where cluster_set_name <> '';

alter table role_team rename to assignment;
alter index role_team_team rename to assignment_team;
alter index role_team_expires rename to assignment_expires;
alter trigger role_team_expiry on assignment rename to assignment_expiry;
alter table assignment drop constraint role_team_pkey;
alter table assignment alter column team_id drop not null;
alter table assignment
  add column id              bigint generated always as identity primary key,
  add column organization_id bigint references account (id) on delete cascade,
  -- To whom: exactly one of these, and of team_id. A team that has the role on the organization is in team_id, where the
  -- previous release looks for it, and only such a team is.
  add column to_team_id      bigint references team on delete cascade,
  add column user_id         bigint references account (id) on delete cascade,
  add column robot_id        bigint references robot on delete cascade,
  -- On what: at most one of these. None means the organization.
  add column on_cluster_id   bigint references cluster on delete cascade,
  add column on_set_id       bigint references cluster_set on delete cascade,
  add column on_contract_id  bigint references contract on delete cascade,
  add column on_robot_id     bigint references robot on delete cascade,
  add column on_team_id      bigint references team on delete cascade,
  add column reason          text not null default '',
  add column request_id      text,
  -- Null if it was made by naming the teams of a role, or the roles of a team.
  add column created_by_type text,
  add column created_by_id   bigint,
  add column version         integer not null default 1,
  -- The same in the words of the model, for keys and filters.
  add column to_type text generated always as (
    case when user_id is not null then 'user' when robot_id is not null then 'robot_ac' else 'team' end) stored,
  add column to_id bigint generated always as (coalesce(team_id, to_team_id, user_id, robot_id)) stored,
  add column on_type text generated always as (
    case when on_cluster_id is not null then 'cluster' when on_set_id is not null then 'cluster_set'
         when on_contract_id is not null then 'contract' when on_robot_id is not null then 'robot_ac'
         when on_team_id is not null then 'team' else 'organization' end) stored,
  add column on_id bigint generated always as (
    coalesce(on_cluster_id, on_set_id, on_contract_id, on_robot_id, on_team_id, 0)) stored;
update assignment a set organization_id = r.organization_id from role r where r.id = a.role_id;
alter table assignment
  add constraint assignment_owner check (organization_id is not null),
  add constraint assignment_to check (num_nonnulls(team_id, to_team_id, user_id, robot_id) = 1),
  add constraint assignment_on check (num_nonnulls(on_cluster_id, on_set_id, on_contract_id, on_robot_id, on_team_id) <= 1),
  add constraint assignment_team_on check ((on_type = 'organization' or team_id is null)
    and (on_type <> 'organization' or to_team_id is null));
create unique index assignment_role_team on assignment (role_id, team_id);
create unique index assignment_key on assignment (role_id, to_type, to_id, on_type, on_id) where team_id is null;
create index assignment_organization on assignment (organization_id, id);
create index assignment_to_team on assignment (to_team_id) where to_team_id is not null;
create index assignment_user on assignment (user_id) where user_id is not null;
create index assignment_robot on assignment (robot_id) where robot_id is not null;
create index assignment_on_cluster on assignment (on_cluster_id) where on_cluster_id is not null;
create index assignment_on_set on assignment (on_set_id) where on_set_id is not null;
create index assignment_on_contract on assignment (on_contract_id) where on_contract_id is not null;
create index assignment_on_robot on assignment (on_robot_id) where on_robot_id is not null;
create index assignment_on_team on assignment (on_team_id) where on_team_id is not null;
create function assignment_owner() returns trigger language plpgsql as $$
begin
  select r.organization_id into new.organization_id from role r where r.id = new.role_id;
  return new;
end $$;
create trigger assignment_owner before insert on assignment
  for each row when (new.organization_id is null) execute function assignment_owner();

-- For replicas of the previous release, which know only the teams of a role.
create view role_team as select role_id, team_id, assigned_at, expires_at from assignment where team_id is not null;
