-- compatible-from: 18
-- Memberships of teams and roles of teams that end at a given time. Ending is a write like any other: whoever first
-- notices that a time has come deletes the rows, before anybody is answered. So nothing that is read here has expired,
-- and releases that know nothing of this read the same tables as before.
alter table team_member add column expires_at timestamptz;
alter table role_team add column expires_at timestamptz;
create index team_member_expires on team_member (expires_at) where expires_at is not null;
create index role_team_expires on role_team (expires_at) where expires_at is not null;

-- The question that everybody asks about the revision also asks whether something has expired, and it is asked a
-- thousand times a second. So the next such time is in the same row. It may be too early, then the next one is looked
-- up. It must never be too late.
alter table revision add column next_expiry timestamptz;

create function expiry_note() returns trigger language plpgsql as $$
begin
  -- First the lock, then a new look at the row: whoever holds it may be about to set a later time.
  perform 1 from revision where id = 1 for update;
  update revision set next_expiry = new.expires_at
   where id = 1 and (next_expiry is null or next_expiry > new.expires_at);
  return null;
end $$;
-- At the end of the transaction, when it holds the row of the revision anyway: nothing may be locked after that row.
create constraint trigger team_member_expiry after insert or update of expires_at on team_member
  deferrable initially deferred for each row when (new.expires_at is not null) execute function expiry_note();
create constraint trigger role_team_expiry after insert or update of expires_at on role_team
  deferrable initially deferred for each row when (new.expires_at is not null) execute function expiry_note();
