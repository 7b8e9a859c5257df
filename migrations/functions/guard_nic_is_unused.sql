-- Names a floating IP or port forward that leads to the NIC {nic_id}, or a floating IP that is leaving the NIC. Returns
-- 'true' if no such object exists.
create or replace function guard_nic_is_unused(args jsonb) returns text language sql volatile as $$
  select coalesce(
    (select format('floating ip %s (%s)', name, id) from floating_ip
      where attached_to = (args->>'nic_id')::uuid limit 1),
    (select format('floating ip %s (%s)', name, id) from floating_ip
      where prior_nic_id = (args->>'nic_id')::uuid limit 1),
    (select format('port forward %s (%s)', name, id) from port_forward
      where nic_id = (args->>'nic_id')::uuid limit 1),
    'true') $$;
