-- compatible-from: 55
-- How far the audit log is pushed to a bucket. A mark is set before an object is written, so that an object that is
-- written again after a crash has the same entries.
create table audit_push (
  id         integer primary key default 1 check (id = 1),
  -- Everything up to this entry is in the bucket.
  last_id    bigint not null default 0,
  -- Up to this entry it is being pushed.
  mark_id    bigint not null default 0,
  -- Once no transaction before this one is under way, nothing can appear up to the mark any more.
  mark_xid   numeric,
  planned_at timestamptz not null default now(),
  -- When the next process may push: after the one that is pushing now, or at the next time.
  due_at     timestamptz not null,
  -- When the whole log was last in the bucket.
  pushed_at  timestamptz
);
