-- The contract was revoked because its subscription was deleted: then, and only then, a bind makes it good again. So far
-- every bind did, whoever had revoked it.
alter table installer add column contract_lapsed boolean not null default false;
update installer i set contract_lapsed = true from contract c
 where c.id = i.contract_id and c.revoked_at is not null and i.subscription_id is not null;
