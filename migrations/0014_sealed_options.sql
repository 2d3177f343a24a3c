-- What customers chose for their installers may hold keys of theirs, so it is kept sealed. The row belongs to the delivery
-- that brought it, and to the installer alone once that is bound. Older versions kept it in installer.options and in
-- delivery.notification, in clear; servers of this version empty both as they run.
create table installer_options (
  id           bigint generated always as identity primary key,
  -- Whose data key it is sealed with: that of the deployment, because there is no organization before the bind.
  owner_id     bigint not null default 0,
  installer_id text not null,
  delivery_id  bigint references delivery on delete cascade,
  sealed       bytea not null,
  constraint installer_options_delivery unique (delivery_id)
);
create unique index installer_options_bound on installer_options (installer_id) where delivery_id is null;
