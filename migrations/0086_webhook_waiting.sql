-- The number of pending deliveries of a webhook. webhook_follow compares this number with its limit. To count the rows
-- of many full queues takes longer than the time limit of a statement. Two triggers maintain the number with the
-- function webhook_count, whose body is also in migrations/functions. `create trigger` locks webhook_delivery, so the first count
-- is exact.
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
