-- compatible-from: 18
-- Memberships of teams and roles of teams that end at a given time. Ending is a write like any other: whoever first
-- notices that a time has come deletes the rows, before anybody is answered. So nothing that is read here has expired,
-- and releases that know nothing of this read the same tables as before.
alter table team_member add column expires_at timestamptz;
alter table role_team add column expires_at timestamptz;
create index team_member_expires on team_member (expires_at) where expires_at is not null;
create index role_team_expires on role_team (expires_at) where expires_at is not null;

-- The question that everybody asks about the revision also asks whether something has expired, and it is asked a
-- thousand times a second. So the next such time is in the same row. It may be too early, then the next one is looked
-- up. It must never be too late.
alter table revision add column next_expiry timestamptz;

create function expiry_note() returns trigger language plpgsql as $$
begin
  -- First the lock, then a new look at the row: whoever holds it may be about to set a later time.
  perform 1 from revision where id = 1 for update;
  update revision set next_expiry = new.expires_at
   where id = 1 and (next_expiry is null or next_expiry > new.expires_at);
  return null;
end $$;
-- At the end of the transaction, when it holds the row of the revision anyway: nothing may be locked after that row.
create constraint trigger team_member_expiry after insert or update of expires_at on team_member
  deferrable initially deferred for each row when (new.expires_at is not null) execute function expiry_note();
create constraint trigger role_team_expiry after insert or update of expires_at on role_team
  deferrable initially deferred for each row when (new.expires_at is not null) execute function expiry_note();

-- The same tuples, but an owner whose membership does not expire is also the last owner if those of all others do.
create or replace view tuple (store, object_type, object_id, relation, subject, source_kind, source_id) as
  select 0::bigint, 'platform', 'atrium', 'admin', 'user:' || a.id, 'platform', 0::bigint
    from account a where a.is_admin and a.kind = 'user'
union all
  select a.id, 'organization', a.id::text, 'platform', 'platform:atrium', 'account', a.id
    from account a where a.kind = 'organization'
union all
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
    from team t
         cross join lateral (select count(*) as members, count(*) filter (where o.expires_at is null) as lasting
                               from team_member o where o.team_id = t.id) n
         cross join lateral (select m.account_id, m.expires_at from team_member m
                              where m.team_id = t.id and (n.members = 1 or n.lasting = 1) offset 0) m
   where t.permission = 'owner' and (n.members = 1 or (n.lasting = 1 and m.expires_at is null))
union all
  select r.organization_id, 'role', r.id::text, 'organization', 'organization:' || r.organization_id, 'role', r.id
    from role r
union all
  select r.organization_id, 'organization', r.organization_id::text, p.relation, 'role:' || r.id || '#assignee', 'role', r.id
    from role r cross join lateral (select p.relation from role_permission p where p.role_id = r.id offset 0) p
union all
  select r.organization_id, 'role', r.id::text, 'assignee', 'team:' || t.team_id || '#member', 'role', r.id
    from role r cross join lateral (select t.team_id from role_team t where t.role_id = r.id offset 0) t
union all
  select a.id, 'cluster', c.id::text, case a.kind when 'user' then 'owner' else 'organization' end,
         a.kind || ':' || a.id, 'cluster', c.id
    from cluster c join account a on a.id = c.owner_id
union all
  select a.id, 'contract', c.id::text, case a.kind when 'user' then 'owner' else 'organization' end,
         a.kind || ':' || a.id, 'contract', c.id
    from contract c join account a on a.id = c.owner_id
union all
  select a.id, 'robot_ac', c.id::text, case a.kind when 'user' then 'owner' else 'organization' end,
         a.kind || ':' || a.id, 'robot', c.id
    from robot c join account a on a.id = c.owner_id
union all
  select a.id, 'token', c.id::text, case a.kind when 'user' then 'owner' else 'organization' end,
         a.kind || ':' || a.id, 'token', c.id
    from token c join account a on a.id = c.account_id;
