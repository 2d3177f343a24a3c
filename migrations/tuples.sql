-- Relation tuples are not stored beside the rows that they describe, they are read from them: a tuple and its row can
-- never fall out of step. The first columns have the shape of OpenFGA's own table, so that moving out is a copy.
--   store        the account whose graph the tuple belongs to; 0: the graph of the whole deployment
--   source_kind  with source_id, the row that the tuple comes from: what a change names and a reader replaces
-- A reader names the store, and perhaps the source, by values: so each part finds its rows by an index. Where an account
-- is joined, the store is its own id, or the planner would read all accounts. "offset 0" keeps it from turning a look for
-- each team or role into a join, for which it would read all memberships and all permissions of a large deployment.
--
-- There is a view for each source_kind, because planning a query over all of them takes longer than running it, and what
-- reads the tuples of a changed row knows the kind of the row.
--
-- This file is applied after the migrations whenever its text has changed. A change comes with a migration, if only an
-- empty one: then replicas of the previous release, which start meanwhile, leave the view alone.
create or replace view tuple_platform (store, object_type, object_id, relation, subject, source_kind, source_id) as
  select 0::bigint, 'platform', 'atrium', 'admin', 'user:' || a.id, 'platform', 0::bigint
    from account a where a.is_admin and a.kind = 'user'
union all
  select 0::bigint, 'platform', 'atrium', 'anyone', w.subject, 'platform', 1::bigint
    from (values ('user:*'), ('robot_ac:*')) as w (subject);

create or replace view tuple_account (store, object_type, object_id, relation, subject, source_kind, source_id) as
  select a.id, 'organization', a.id::text, 'platform', 'platform:atrium', 'account', a.id
    from account a where a.kind = 'organization';

create or replace view tuple_team (store, object_type, object_id, relation, subject, source_kind, source_id) as
  select t.organization_id, 'team', t.id::text, case t.permission when 'owner' then 'owned_by' else 'organization' end,
         'organization:' || t.organization_id, 'team', t.id
    from team t
union all
  select t.organization_id, 'organization', t.organization_id::text, 'participant', 'team:' || t.id || '#member', 'team', t.id
    from team t
union all
  select t.organization_id, 'organization', t.organization_id::text,
         case t.permission when 'read' then 'viewer' when 'write' then 'editor' else t.permission end,
         'team:' || t.id || '#member', 'team', t.id
    from team t where t.permission <> 'none'
union all
  select t.organization_id, 'team', t.id::text, 'steward', 'organization:' || t.organization_id || '#editor', 'team', t.id
    from team t where t.type = 'builtin' and t.permission = 'read'
union all
  select t.organization_id, 'team', t.id::text, 'member', 'user:' || m.account_id, 'team', t.id
    from team t cross join lateral (select m.account_id from team_member m where m.team_id = t.id offset 0) m
union all
  select t.organization_id, 'team', t.id::text, 'built_in', 'user:*', 'team', t.id
    from team t where t.type = 'builtin'
union all
  select t.organization_id, 'team', t.id::text, 'kept', 'user:*', 'team', t.id
    from team t where t.permission = 'owner' and (select count(*) from team_member m where m.team_id = t.id) = 1
union all
  select t.organization_id, 'organization', t.organization_id::text, 'last_owner', 'user:' || m.account_id, 'team', t.id
    from team t cross join lateral (select m.account_id from team_member m where m.team_id = t.id offset 0) m
   where t.permission = 'owner' and (select count(*) from team_member o where o.team_id = t.id) = 1;

create or replace view tuple_role (store, object_type, object_id, relation, subject, source_kind, source_id) as
  select r.organization_id, 'role', r.id::text, 'organization', 'organization:' || r.organization_id, 'role', r.id
    from role r
union all
  select r.organization_id, 'organization', r.organization_id::text, p.relation, 'role:' || r.id || '#assignee', 'role', r.id
    from role r cross join lateral (select p.relation from role_permission p where p.role_id = r.id offset 0) p
union all
  -- What a role allows on single objects, once for all objects that it is assigned on.
  select r.organization_id, 'role', r.id::text, 'allows_' || substr(p.relation, 5), 'platform:atrium', 'role', r.id
    from role r cross join lateral (select p.relation from role_permission p where p.role_id = r.id offset 0) p
   where p.relation in (
     'can_view_clusters', 'can_edit_clusters', 'can_connect_clusters', 'can_view_cluster_config', 'can_remove_clusters',
     'can_administer_clusters', 'can_review_clusters',
     'can_view_contracts', 'can_edit_contracts', 'can_delete_contracts',
     'can_view_robots', 'can_edit_robots', 'can_delete_robots',
     'can_view_teams', 'can_edit_teams', 'can_delete_teams', 'can_manage_team_members')
union all
  select r.organization_id, 'role', r.id::text, 'assignee', 'team:' || t.team_id || '#member', 'role', r.id
    from role r cross join lateral (
      select t.team_id from assignment t where t.role_id = r.id and t.team_id is not null offset 0) t;

create or replace view tuple_assignment (store, object_type, object_id, relation, subject, source_kind, source_id) as
  select s.organization_id, 'role', s.role_id::text, 'assignee', s.to_type || ':' || s.to_id, 'assignment', s.id
    from assignment s where s.on_type = 'organization' and s.team_id is null
union all
  select s.organization_id, 'assignment', s.id::text, 'assignee',
         s.to_type || ':' || s.to_id || case s.to_type when 'team' then '#member' else '' end, 'assignment', s.id
    from assignment s where s.team_id is null
union all
  select s.organization_id, 'assignment', s.id::text, 'role', 'role:' || s.role_id, 'assignment', s.id
    from assignment s where s.on_type <> 'organization'
union all
  select s.organization_id, 'assignment', s.id::text,
         case when n.name like '%*' then 'namespace_prefix' else 'namespace' end, 'namespace:' || rtrim(n.name, '*'),
         'assignment', s.id
    from assignment s cross join lateral unnest(s.namespaces) as n (name) where s.namespaces is not null
union all
  select s.organization_id, s.on_type, s.on_id::text,
         case when s.namespaces is not null then 'namespaced_assignment'
              when s.on_team_id is not null and (select t.permission from team t where t.id = s.on_team_id) = 'owner'
              then 'view_assignment' else 'assignment' end,
         'assignment:' || s.id, 'assignment', s.id
    from assignment s where s.on_type <> 'organization';

create or replace view tuple_cluster (store, object_type, object_id, relation, subject, source_kind, source_id) as
  select a.id, 'cluster', c.id::text, case a.kind when 'user' then 'owner' else 'organization' end,
         a.kind || ':' || a.id, 'cluster', c.id
    from cluster c join account a on a.id = c.owner_id
union all
  select a.id, 'cluster', c.id::text, 'set', 'cluster_set:' || s.id, 'cluster', c.id
    from cluster c join account a on a.id = c.owner_id
    join cluster_set s on s.organization_id = a.id and s.name = c.cluster_set_name
   where a.kind = 'organization' and c.cluster_set_name <> '';

create or replace view tuple_contract (store, object_type, object_id, relation, subject, source_kind, source_id) as
  select a.id, 'contract', c.id::text, case a.kind when 'user' then 'owner' else 'organization' end,
         a.kind || ':' || a.id, 'contract', c.id
    from contract c join account a on a.id = c.owner_id;

create or replace view tuple_robot (store, object_type, object_id, relation, subject, source_kind, source_id) as
  select a.id, 'robot_ac', c.id::text, case a.kind when 'user' then 'owner' else 'organization' end,
         a.kind || ':' || a.id, 'robot', c.id
    from robot c join account a on a.id = c.owner_id
union all
  select a.id, 'organization', a.id::text, 'robot', 'robot_ac:' || c.id, 'robot', c.id
    from robot c join account a on a.id = c.owner_id and a.kind = 'organization';

create or replace view tuple_token (store, object_type, object_id, relation, subject, source_kind, source_id) as
  select a.id, 'token', c.id::text, case a.kind when 'user' then 'owner' else 'organization' end,
         a.kind || ':' || a.id, 'token', c.id
    from token c join account a on a.id = c.account_id where c.trust_rule_id is null;

create or replace view tuple as
  table tuple_platform
union all
  table tuple_account
union all
  table tuple_team
union all
  table tuple_role
union all
  table tuple_assignment
union all
  table tuple_cluster
union all
  table tuple_contract
union all
  table tuple_robot
union all
  table tuple_token;
