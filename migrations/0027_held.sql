-- compatible-from: 18
-- Holds the number for a change that is made elsewhere.
select 1;
