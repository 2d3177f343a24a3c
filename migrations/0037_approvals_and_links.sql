-- compatible-from: 18
-- An approved program gets its token only while the session that approved it lasts. Approvals of the previous release
-- name no session; they end after ten minutes, as all do. The address is where the program began, for the audit log.
alter table device_request
  add column session_id bigint references session (id) on delete cascade,
  add column address text not null default '';
create index device_request_session on device_request (session_id) where session_id is not null;
-- An account at a provider that was linked because of its address alone. If its user has a second factor here, the word
-- of a provider that is trusted to ask for one does not count until they have used theirs once.
alter table linked_account add column by_address boolean not null default false;
