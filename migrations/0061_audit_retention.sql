-- compatible-from: 55
-- The last day on which a process began to archive what is older than AUDIT_RETENTION, so that only one does.
create table audit_retention (
  id  integer primary key default 1 check (id = 1),
  day date not null
);
