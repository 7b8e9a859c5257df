-- Returns the oldest waiting delivery of a webhook, with the values that a process needs to send the delivery. Returns
-- no row if no delivery waits, or if the webhook is disabled.
create or replace function webhook_next(of_webhook uuid, of_claim uuid)
returns table (webhook_id uuid, claim uuid, tenant_id uuid, url text, sealed_secret text, delivery_id uuid, type text,
               event jsonb, attempts int)
language sql volatile as $$
  select w.id, of_claim, w.tenant_id, w.url, w.sealed_secret, d.id, d.type, d.event, d.attempts
    from webhook w,
         lateral (select * from webhook_delivery d where d.webhook_id = w.id and d.state = 'pending'
                   order by d.number limit 1) d
   where w.id = of_webhook and w.enabled $$;
