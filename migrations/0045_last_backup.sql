-- compatible-from: 40
-- When `atrium backup` last wrote a whole file, so that monitoring notices when no more are written.
create table last_backup (
  id smallint    primary key check (id = 1),
  at timestamptz not null
);
