-- compatible-from: 18
-- A page of the audit log costs the same however long the log is, also for one organization among many and if nothing is
-- found. In the indexes of 0010, the organization comes after the time: an actor who is busy elsewhere was looked for in
-- all their entries, and an action in all entries of the deployment.
--
-- Statements compare all columns of one of these indexes as a row, and order by all of them, so that no plan has another
-- choice. Blocks writes to the audit log while it runs: about half a minute for each ten million entries.
create index audit_organization_actor on audit (organization_id, actor_id, at, id);
create index audit_organization_type on audit (organization_id, object_type, at, id);
create index audit_organization_action on audit (organization_id, action, at, id);
create index audit_action_at on audit (action, at, id);
-- The third of these can do all that it could.
drop index audit_action;
