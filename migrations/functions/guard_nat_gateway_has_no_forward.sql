-- Returns whether the NAT gateway {id} has no port forward. The caller must hold the VPC's lock exclusively.
create or replace function guard_nat_gateway_has_no_forward(args jsonb) returns boolean language sql volatile as $$
  select not exists (select from port_forward where nat_gateway_id = (args->>'id')::uuid) $$;
