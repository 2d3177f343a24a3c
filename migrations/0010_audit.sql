-- A page of the audit log must not cost more the longer the log is: each way of looking for rows finds them in the order in
-- which they are shown, newest first, so that a page is the first rows of an index and a time is a place in it.
--
-- The same moment is spelled in three ways (at, at in UTC, at in GMT). An index in one spelling cannot serve a statement in
-- another: else the planner, who thinks that the rows of an actor are spread evenly, would take the index of all times and
-- read a million rows to find the few of somebody who was here long ago.
--
-- The organization, and once the actor, stand at the end: there they are compared inside the index, without a look at the
-- rows, so that one index serves an organization and the whole deployment.
drop index audit_actor;
drop index audit_object;
create index audit_at on audit ((at at time zone 'GMT'), id);
create index audit_organization_at on audit (organization_id, (at at time zone 'UTC'), id);
create index audit_actor on audit (actor_id, at, id, organization_id);
create index audit_object on audit (object_type, object_id, at, id);
create index audit_object_type on audit (object_type, at, id, organization_id, actor_id);
