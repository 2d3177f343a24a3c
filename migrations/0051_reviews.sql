-- compatible-from: 40
-- Access reviews, and the items that reviewers decide about. Items keep names, because what they are about can be gone
-- before the review ends, and the record must still tell it.
create table review (
  id                bigint generated always as identity primary key,
  organization_id   bigint not null references account (id) on delete cascade,
  name              text not null,
  question          json not null,
  undecided         text not null check (undecided in ('keep', 'end')),
  due_at            timestamptz not null,
  -- Empty: the owners.
  reviewer_ids      bigint[] not null,
  reviewer_names    text[] not null,
  started_by_id     bigint not null,
  started_by_name   text not null,
  started_at        timestamptz not null default now(),
  -- Who has what the review asks about in a way that no item can end, such as site administrators.
  left_out          integer not null default 0,
  closed_by_id      bigint,
  closed_by_name    text,
  closed_at         timestamptz,
  record            text,
  record_sha256     text,
  version           integer not null default 1
);
create index review_organization on review (organization_id, id);
create index review_due on review (due_at) where closed_at is null;

create table review_item (
  id              bigint generated always as identity primary key,
  review_id       bigint not null references review (id) on delete cascade,
  kind            text not null check (kind in ('membership', 'assignment', 'token')),
  principal_type  text not null,
  principal_id    bigint not null,
  principal_name  text not null,
  -- The team, assignment or token that would be left or end.
  target_id       bigint not null,
  details         json not null,
  sentence        text not null,
  state           text not null default 'open' check (state in ('open', 'kept', 'ended', 'gone', 'rejected')),
  -- Null: the review itself, when it was closed.
  decided_by_id   bigint,
  decided_by_name text,
  decided_at      timestamptz,
  comment         text not null default '',
  -- Why it could not be ended.
  reason          text,
  message         text
);
create index review_item_review on review_item (review_id, id);
