-- Makes the delivery {id} of the webhook {webhook_id} pending, as if it were new. If no process holds the claim of the
-- webhook, the webhook's pause ends and the webhook is due now. Otherwise the process with the claim looks for the
-- delivery when its attempt ends. If that attempt failed, the delivery is sent after the pause.
create or replace function effect_webhook_redelivered(args jsonb) returns void language plpgsql volatile as $$
begin
  perform from webhook_queue where webhook_id = (args->>'webhook_id')::uuid for no key update;
  update webhook_delivery set state = 'pending', attempts = 0, ended_at = null, begun_at = berth_now()
   where id = (args->>'id')::uuid and webhook_id = (args->>'webhook_id')::uuid;
  update webhook_queue set due_at = berth_now(), paused_until = null
   where webhook_id = (args->>'webhook_id')::uuid and claim is null;
end $$;
