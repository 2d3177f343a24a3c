-- An installer outlives the organization and the contract that it was bound to: it stays bound, so that nobody can bind it
-- again, but to nothing any more. The indexes find the installers of what is deleted.
alter table installer
  drop constraint installer_organization_id_fkey,
  drop constraint installer_contract_id_fkey,
  add constraint installer_organization_id_fkey foreign key (organization_id) references account on delete set null,
  add constraint installer_contract_id_fkey foreign key (contract_id) references contract on delete set null;
create index installer_organization on installer (organization_id) where organization_id is not null;
create index installer_contract on installer (contract_id) where contract_id is not null;
