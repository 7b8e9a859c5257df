-- Returns the operation in progress on a floating IP that is attached to the instance {instance_id} or is leaving it,
-- or 'true' if none exists.
create or replace function guard_floating_ips_rest(args jsonb) returns text language sql volatile as $$
  select coalesce(
    (select operation_id::text from floating_ip
      where attached_instance_id = (args->>'instance_id')::uuid and operation_id is not null limit 1),
    (select operation_id::text from floating_ip where prior_instance_id = (args->>'instance_id')::uuid limit 1),
    'true') $$;
