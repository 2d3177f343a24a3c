-- compatible-from: 18
-- A part of a name is found by index, without an extension of PostgreSQL. A text is cut into all its pieces of three
-- characters, and into what is left at its end. The pieces of a longer text must all be there. A text of one or two
-- characters is the beginning of a piece. What has the pieces is then compared with the text itself.
-- The cost keeps the planner from cutting the text of each row instead of using the index.
create function search_pieces(text text) returns tsvector language sql immutable parallel safe cost 5000 as $$
  select array_to_tsvector(array_remove(string_to_array(
    regexp_replace(text, '(...)', E'\\1\x01', 'g') || E'\x01'
      || regexp_replace(substr(text, 2), '(...)', E'\\1\x01', 'g') || E'\x01'
      || regexp_replace(substr(text, 3), '(...)', E'\\1\x01', 'g'), E'\x01'), ''))
$$;

-- Few new rows wait to be merged into an index of pieces, because every search reads those that wait.
create index user_pieces on account using gin (search_pieces(name_key || ' ' || lower(full_name)))
  with (gin_pending_list_limit = 256) where kind = 'user';
create index organization_pieces on account using gin (search_pieces(name_key || ' ' || lower(full_name)))
  with (gin_pending_list_limit = 256) where kind = 'organization';
create index email_pieces on email using gin (search_pieces(address_key)) with (gin_pending_list_limit = 256);

-- What begins with a text, in the order in which it is shown.
create index account_name_order on account (kind, name_key collate "C", id);
create index account_title_order on account (kind, lower(full_name) collate "C") where full_name <> '';
