-- compatible-from: 55
-- People who must not be erased for now, such as during a lawsuit.
create table legal_hold (
  account_id    bigint primary key,
  reason        text not null,
  created_by_id bigint not null,
  created_at    timestamptz not null default now()
);

-- Whether nothing of an erased person is left in the log. Large logs take longer than a request.
alter table erasure add column finished_at timestamptz;
create index erasure_unfinished on erasure (account_id) where finished_at is null;
