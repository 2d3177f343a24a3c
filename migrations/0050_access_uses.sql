-- compatible-from: 40
-- When access was last used, so that access that nobody needs can be found. A row says on which day a user or a robot was
-- last allowed something on an object. Through what is found out when somebody asks.
create table access_use (
  organization_id bigint not null references account (id) on delete cascade,
  -- A user, or the negative ID of a robot.
  principal_id    bigint not null,
  object_type     text not null,
  object_id       bigint not null,
  -- Empty if all relations on the object were asked for.
  relation        text not null,
  last_day        date not null,
  primary key (organization_id, principal_id, object_type, object_id, relation)
);
create index access_use_last_day on access_use (last_day);

-- Nothing is known about the days before this one.
create table access_use_start (
  id         integer primary key default 1 check (id = 1),
  started_at timestamptz not null default now()
);
insert into access_use_start default values;
