-- compatible-from: 18
-- After a failover to a standby that lacks the last commits, or a restore to an earlier moment, the numbers of revisions
-- repeat. So each revision also has a random stamp, and the recent stamps are kept: whoever knows a revision can tell
-- whether this database has been through that very one. PostgreSQL itself does all of this, so releases that know nothing
-- of stamps write them, too.
alter table revision add column stamp uuid not null default gen_random_uuid();

create table revision_stamp (
  revision bigint primary key,
  stamp    uuid not null
);
insert into revision_stamp (revision, stamp) select value, stamp from revision;

create function revision_stamp() returns trigger language plpgsql as $$
begin
  if new.value <> old.value then
    new.stamp := gen_random_uuid();
    -- A number that somebody set back by hand comes again.
    insert into revision_stamp (revision, stamp) values (new.value, new.stamp)
      on conflict (revision) do update set stamp = excluded.stamp;
  end if;
  -- The changes after the last pruned revision are still known, so its stamp is kept.
  if new.pruned <> old.pruned then
    delete from revision_stamp where revision < new.pruned;
  end if;
  return new;
end $$;
create trigger revision_stamped before update on revision for each row execute function revision_stamp();
