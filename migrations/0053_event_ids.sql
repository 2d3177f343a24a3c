-- compatible-from: 40
-- Events have IDs, types and times: which change of its revision one is, and what the audit log calls it. What an earlier
-- release notes has the defaults: the first place, no action, and the time at which it was noted.
alter table change add column place integer not null default 0;
alter table change add column action text;
alter table change add column at timestamptz not null default now();
