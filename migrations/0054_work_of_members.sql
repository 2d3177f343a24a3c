-- compatible-from: 40
-- What an identity provider says about the work of a person. The manager is as the provider writes it.
alter table scim_user
  add column title           text not null default '',
  add column department      text not null default '',
  add column employee_number text not null default '',
  add column cost_center     text not null default '',
  add column manager         text not null default '',
  add column manager_name    text not null default '';
