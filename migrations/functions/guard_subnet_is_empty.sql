-- Returns 'true' if the subnet {subnet_id} has no NIC, otherwise a text that names a NIC.
create or replace function guard_subnet_is_empty(args jsonb) returns text language sql volatile as $$
  select coalesce(
    (select format('nic %s of instance %s', id, instance_id) from nic
      where subnet_id = (args->>'subnet_id')::uuid limit 1),
    'true') $$;
