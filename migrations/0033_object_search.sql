-- compatible-from: 18
-- What site administrators search in the whole deployment, see 0032.
create index team_pieces on team using gin (search_pieces(name_key)) with (gin_pending_list_limit = 256);
create index team_name_order on team (name_key collate "C", id);
create index role_pieces on role using gin (search_pieces(name_key)) with (gin_pending_list_limit = 256);
create index role_name_order on role (name_key collate "C", id);
create index contract_pieces on contract using gin (search_pieces(lower(name))) with (gin_pending_list_limit = 256);
create index contract_name_order on contract (lower(name) collate "C", id);
create index robot_pieces on robot using gin (search_pieces(lower(name))) with (gin_pending_list_limit = 256);
create index robot_name_order on robot (lower(name) collate "C", id);
create index cluster_pieces on cluster using gin (search_pieces(lower(name) || ' ' || lower(display_name)))
  with (gin_pending_list_limit = 256);
create index cluster_name_order on cluster (lower(name) collate "C", id);
create index cluster_title_order on cluster (lower(display_name) collate "C") where display_name <> '';
-- The orders of the list of all clusters.
create index cluster_name_sort on cluster (name collate "C", id);
create index cluster_created_sort on cluster (created_at, id);
create index cluster_provider on cluster (lower(provider), id);
create index cluster_uid_order on cluster (uid collate "C");
