-- Lets the webhook {webhook_id} send the delivery {id} again, at once and as if it were new. If a process holds the
-- claim of the webhook, it finds the delivery when it records the end of its attempt.
create or replace function effect_webhook_redelivered(args jsonb) returns void language plpgsql volatile as $$
begin
  perform from webhook_queue where webhook_id = (args->>'webhook_id')::uuid for update;
  update webhook_delivery set state = 'pending', attempts = 0, ended_at = null, begun_at = berth_now()
   where id = (args->>'id')::uuid and webhook_id = (args->>'webhook_id')::uuid;
  update webhook_queue set due_at = berth_now() where webhook_id = (args->>'webhook_id')::uuid and claim is null;
end $$;
