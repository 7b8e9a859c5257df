-- Returns when a webhook is due next, after webhook_next returned no row for it: at the end of its pause. Returns null
-- if no delivery waits for the end of a pause.
create or replace function webhook_due(of_webhook uuid) returns timestamptz language sql volatile as $$
  select q.paused_until from webhook_queue q join webhook w on w.id = q.webhook_id
   where q.webhook_id = of_webhook and w.enabled and q.paused_until > berth_now()
     and exists (select from webhook_delivery d where d.webhook_id = w.id and d.state = 'pending') $$;
