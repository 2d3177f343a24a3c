-- What an administrator edits carries a version: it is the ETag, so that two people never overwrite each other unseen.
alter table account add column version integer not null default 1;
alter table team add column version integer not null default 1;
alter table cluster add column version integer not null default 1;
alter table contract add column version integer not null default 1;
alter table robot add column version integer not null default 1;
