-- Records an attempt of the process that holds the webhook. If `continues` is set and a delivery can be sent now
-- (webhook_next), returns this delivery, and the process holds the webhook for `lease_s` more seconds. Otherwise
-- returns no row, also if the process no longer holds the webhook. `reason` is null after a success. A delivery that
-- failed is repeated after `pause_s` seconds, or is dead if `retry_s` seconds have passed since the delivery began.
-- After a dead delivery, the next one also waits for `pause_s` seconds. A test event that failed is dead at once,
-- because it is sent once. A test event neither begins nor ends a pause.
create or replace function webhook_record(of_webhook uuid, of_claim uuid, of_delivery uuid, status int, reason text,
                                          pause_s double precision, retry_s double precision, lease_s double precision,
                                          continues boolean)
returns setof record language plpgsql volatile as $$
declare
  pass_at  constant timestamptz := berth_now();
  began_by constant timestamptz := pass_at - make_interval(secs => retry_s);
  sent     record;
  found_   record;
begin
  perform from webhook_queue where webhook_id = of_webhook and claim = of_claim for no key update;
  if not found then return; end if;
  update webhook_delivery
     set attempts = attempts + 1, last_status = status, last_reason = reason, attempted_at = pass_at,
         state = case when reason is null then 'delivered'
                      when type = 'webhook_test' or begun_at <= began_by then 'dead' else state end,
         ended_at = case when reason is null or type = 'webhook_test' or begun_at <= began_by then pass_at end
   where id = of_delivery and state = 'pending'
  returning type, state into sent;
  if sent.type <> 'webhook_test' then
    update webhook_queue
       set paused_until = case when sent.state <> 'delivered' then pass_at + make_interval(secs => pause_s) end
     where webhook_id = of_webhook;
  end if;
  select * into found_ from webhook_next(of_webhook, of_claim);
  if not found then
    update webhook_queue set claim = null, (due_at, paused_until) = (select d, d from webhook_due(of_webhook) d)
     where webhook_id = of_webhook;
  elsif continues then
    update webhook_queue set due_at = pass_at + make_interval(secs => lease_s) where webhook_id = of_webhook;
    return next found_;
  else
    update webhook_queue set claim = null, due_at = pass_at where webhook_id = of_webhook;
  end if;
end $$;
