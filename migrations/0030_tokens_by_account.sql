-- compatible-from: 18
-- Since tokens can be superseded, the index of their names does not contain all of them. Every graph is loaded with the
-- tokens of its account, which were searched for among everybody's, and so were those that a user lists.
create index token_account on token (account_id, id);
-- For deleting an organization.
create index token_policy_organization on token_policy (organization_id);
