-- How many deliveries of a webhook are pending. webhook_follow compares this number with its limit; to count the rows of
-- many full queues takes longer than a statement may take. The trigger webhook_count keeps the number. Its body is also
-- in functions. The lock on webhook_delivery, which `create trigger` takes, makes the first count exact.
alter table webhook_queue add column waiting bigint not null default 0;
create function webhook_count() returns trigger language plpgsql as $$
begin
  if tg_op = 'INSERT' then
    perform from webhook_queue where webhook_id in (select a.webhook_id from added a where a.state = 'pending')
      order by webhook_id for no key update;
    update webhook_queue q set waiting = q.waiting + a.deliveries
      from (select webhook_id, count(*) as deliveries from added where state = 'pending' group by webhook_id) a
     where q.webhook_id = a.webhook_id;
  else
    update webhook_queue set waiting = waiting + case new.state when 'pending' then 1 else -1 end
     where webhook_id = new.webhook_id;
  end if;
  return null;
end $$;
create trigger webhook_count_added after insert on webhook_delivery
  referencing new table as added for each statement execute function webhook_count();
create trigger webhook_count_changed after update of state on webhook_delivery
  for each row when ((old.state = 'pending') <> (new.state = 'pending')) execute function webhook_count();
update webhook_queue q set waiting = d.deliveries
  from (select webhook_id, count(*) as deliveries from webhook_delivery where state = 'pending' group by webhook_id) d
 where q.webhook_id = d.webhook_id;
