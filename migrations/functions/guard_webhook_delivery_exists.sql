-- Returns whether the webhook {webhook_id} has the delivery {id}.
create or replace function guard_webhook_delivery_exists(args jsonb) returns boolean language sql volatile as $$
  select exists (select from webhook_delivery
                  where id = (args->>'id')::uuid and webhook_id = (args->>'webhook_id')::uuid) $$;
