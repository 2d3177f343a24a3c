-- compatible-from: 40
-- Hashes of what is accepted once: challenges, states of sign-ins, logout tokens. Nothing is stored when one is given
-- out. A row says that it was used, until it expires anyway.
alter table spent_secret rename to single_use;
alter index spent_secret_pkey rename to single_use_pkey;
alter index spent_secret_expiry rename to single_use_expiry;
insert into single_use (hash, expires_at) select hash, expires_at from used_proof on conflict do nothing;
drop table used_proof;

-- For replicas of the previous release: what they use cannot be used again on a new one, nor the other way around.
create view spent_secret as select hash, expires_at from single_use;
create view used_proof as select hash, expires_at from single_use;
