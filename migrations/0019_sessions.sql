-- compatible-from: 18
-- Users see where they are signed in, so a session has an ID that is not its hash, and remembers where it came from.
alter table session add column id bigint generated always as identity;
alter table session add column user_agent text not null default '';
alter table session add column ip text not null default '';
alter table session add column last_seen_at timestamptz;
create unique index session_id on session (id);
