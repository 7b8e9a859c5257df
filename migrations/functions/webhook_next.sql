-- Returns the next delivery of a webhook, with the values that a process needs to send the delivery. Events of changes
-- are sent before test events, and each of the two kinds in the order of creation. So a test event delays no other
-- event. During the pause after a failure only test events are sent. Returns no row if nothing can be sent now, or if
-- the webhook is disabled.
create or replace function webhook_next(of_webhook uuid, of_claim uuid)
returns table (webhook_id uuid, claim uuid, tenant_id uuid, url text, sealed_secret text, delivery_id uuid, type text,
               event jsonb, attempts int)
language sql volatile as $$
  select w.id, of_claim, w.tenant_id, w.url, w.sealed_secret, d.id, d.type, d.event, d.attempts
    from webhook w
    join webhook_queue q on q.webhook_id = w.id
    cross join lateral (
      (select 1 as place, e.* from webhook_delivery e
        where e.webhook_id = w.id and e.state = 'pending' and e.type <> 'webhook_test'
          and (q.paused_until is null or q.paused_until <= berth_now())
        order by e.number limit 1)
      union all
      (select 2, t.* from webhook_delivery t
        where t.webhook_id = w.id and t.state = 'pending' and t.type = 'webhook_test'
        order by t.number limit 1)
      order by place limit 1) d
   where w.id = of_webhook and w.enabled $$;
