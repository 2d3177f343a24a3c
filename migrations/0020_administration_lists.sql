-- compatible-from: 18
-- Indexes for what administrators list. None of them changes what a statement answers.
-- Deliveries in one state, such as those that are dead, without walking over all that are done.
create index delivery_state on delivery (state, id);
-- Installers, newest first, of all marketplaces and of one.
create index installer_created on installer (created_at, id);
create index installer_marketplace on installer (marketplace, created_at, id);
create index subscription_state on subscription (state, id);
-- Rejected callers, the latest day first.
create index delivery_refusal_day on delivery_refusal (day, marketplace, reason, source);
-- The few events that are not sent, among the many that are.
create index marketplace_event_open on marketplace_event (id) where sent_at is null;
-- Deliveries of a span of time.
create index delivery_received on delivery (received_at, id);
-- How often each action happened in an organization.
create index audit_action on audit (organization_id, action, at);
-- The few users who may not sign in, among all others.
create index account_barred on account (id) where kind = 'user' and (not active or prohibit_login);
