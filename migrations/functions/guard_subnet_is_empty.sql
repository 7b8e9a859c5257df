-- Returns 'true' if the subnet {subnet_id} has no NIC, otherwise a text that names NICs.
create or replace function guard_subnet_is_empty(args jsonb) returns text language sql volatile as $$
  select coalesce(berth_named(array(
    select format('nic %s of instance %s', id, instance_id) from nic
      where subnet_id = (args->>'subnet_id')::uuid limit 6)), 'true') $$;
