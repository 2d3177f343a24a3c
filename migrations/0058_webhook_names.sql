-- compatible-from: 55
-- Webhooks have names, by which files identify them. Those that there are get the name of their host; what a former
-- release adds meanwhile gets a random one.
alter table webhook add column name text not null default 'webhook-' || substr(gen_random_uuid()::text, 1, 8);
update webhook w set name = n.host || case when n.nth = 1 then '' else '-' || n.nth end
  from (select id, host, row_number() over (partition by owner_id, lower(host) order by id) as nth
          from (select id, owner_id, coalesce(substring(url from '^[a-z]+://([0-9A-Za-z.-]*[0-9A-Za-z])'), 'webhook') as host
                  from webhook) named) n
 where n.id = w.id;
create unique index webhook_name on webhook (owner_id, lower(name));
