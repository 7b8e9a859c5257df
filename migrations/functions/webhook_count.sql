-- Updates webhook_queue.waiting, the number of pending deliveries of a webhook. Ignores deletes, because pending
-- deliveries are deleted only with their webhook. Locks the rows of webhook_queue in the same order as webhook_follow.
-- A commit call locks the rows of its webhooks in another order. So in rare cases the call and webhook_follow wait for
-- each other, until the lock limit ends one of them. The ended call is repeated.
create or replace function webhook_count() returns trigger language plpgsql as $$
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
