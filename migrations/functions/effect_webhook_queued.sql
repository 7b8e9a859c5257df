-- Lets the webhook {webhook_id} send its waiting deliveries, unless it is sending already. {ends_pause} also ends the
-- webhook's pause after a failure. Without {ends_pause}, the webhook sends only test events until the pause ends
-- (webhook_next). Servers of earlier versions do not pass {ends_pause}. The row is locked first, because a process that
-- is about to make the webhook idle may not have seen these deliveries.
create or replace function effect_webhook_queued(args jsonb) returns void language plpgsql volatile as $$
begin
  perform from webhook_queue where webhook_id = (args->>'webhook_id')::uuid for no key update;
  update webhook_queue
     set due_at = case when due_at is null or claim is null then berth_now() else due_at end,
         paused_until = case when coalesce((args->>'ends_pause')::boolean, false) then null else paused_until end
   where webhook_id = (args->>'webhook_id')::uuid;
end $$;
