-- Lets the webhook {webhook_id} send its waiting deliveries, unless it is sending already. {ends_pause} also ends its
-- pause after a failure. Servers of earlier versions do not pass {ends_pause}.
-- The row is locked first, because a process that is about to make the webhook idle may not have seen these deliveries.
create or replace function effect_webhook_queued(args jsonb) returns void language plpgsql volatile as $$
begin
  perform from webhook_queue where webhook_id = (args->>'webhook_id')::uuid for no key update;
  update webhook_queue set due_at = berth_now()
   where webhook_id = (args->>'webhook_id')::uuid
     and (due_at is null or claim is null and coalesce((args->>'ends_pause')::boolean, false));
end $$;
