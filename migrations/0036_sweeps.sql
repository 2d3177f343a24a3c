-- compatible-from: 18
-- What is kept for a limited time is found by its age. Without these, each sweep read the whole log of deliveries.
create index delivery_last on delivery (state, last_at);
create index marketplace_event_sent on marketplace_event (sent_at) where sent_at is not null;
