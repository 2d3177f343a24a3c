-- compatible-from: 40
-- Invitations: an address, the teams of one organization that its owner joins, and hashes of the codes that accept it.
create table invitation (
  id                  bigint generated always as identity primary key,
  organization_id     bigint      not null references account (id) on delete cascade,
  email               text        not null,
  email_key           text        not null generated always as (lower(email)) stored,
  message             text        not null default '',
  -- The code in the email proves the address. The one that the inviter was shown does not.
  mailed_hash         bytea,
  shown_hash          bytea,
  created_at          timestamptz not null default now(),
  expires_at          timestamptz not null,
  -- How long the first code was good for. A code that is sent again is good for as long.
  lifetime_seconds    integer     not null,
  -- Whoever invited, or sent the invitation again. Both are null if the account or the robot is gone.
  invited_by_id       bigint references account (id) on delete set null,
  invited_by_robot_id bigint references robot (id) on delete set null,
  accepted_at         timestamptz,
  accepted_by_id      bigint references account (id) on delete set null
);
create index invitation_organization on invitation (organization_id, id);
create index invitation_address on invitation (organization_id, email_key);
create unique index invitation_mailed on invitation (mailed_hash) where mailed_hash is not null;
create unique index invitation_shown on invitation (shown_hash) where shown_hash is not null;
create index invitation_inviter on invitation (invited_by_id) where invited_by_id is not null;
create index invitation_inviting_robot on invitation (invited_by_robot_id) where invited_by_robot_id is not null;
create index invitation_accepted_by on invitation (accepted_by_id) where accepted_by_id is not null;
create index invitation_end on invitation (expires_at);

create table invitation_team (
  invitation_id bigint not null references invitation (id) on delete cascade,
  team_id       bigint not null references team (id) on delete cascade,
  primary key (invitation_id, team_id)
);
create index invitation_team_of on invitation_team (team_id);
