-- compatible-from: 40
-- An assignment on a cluster or on a set of clusters can count in some namespaces only: names, or prefixes that end in an
-- asterisk, in the order in which they were given.
alter table assignment
  add column namespaces     text[],
  -- The same whatever their order; empty if there are none. A list of fifty would be too long for an index.
  add column namespaces_key text not null default '';
alter table assignment
  add constraint assignment_namespaces check (namespaces is null or on_type in ('cluster', 'cluster_set')),
  add constraint assignment_namespaces_key check ((namespaces is null) = (namespaces_key = ''));
create unique index assignment_place_key on assignment (role_id, to_type, to_id, on_type, on_id, namespaces_key)
  where team_id is null;
drop index assignment_key;
