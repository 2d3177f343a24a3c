-- compatible-from: 18
-- An approved program gets its token only while the session that approved it lasts. Approvals of the previous release
-- name no session; they end after ten minutes, as all do. The address is where the program began, for the audit log.
alter table device_request
  add column session_id bigint references session (id) on delete cascade,
  add column address text not null default '';
create index device_request_session on device_request (session_id) where session_id is not null;
