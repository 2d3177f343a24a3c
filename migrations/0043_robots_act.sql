-- compatible-from: 40
-- Robots act: the view of the relation tuples (tuples.sql) says which organization a robot works for. In `audit` and in
-- `idempotency_key`, a robot that acted is the negative of its ID, so that robot 5 is not account 5.
comment on column audit.actor_id is 'The account that acted, 0 for the server, or the negative of the ID of a robot.';
