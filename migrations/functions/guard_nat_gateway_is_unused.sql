-- Returns whether no route uses the NAT gateway {id}. The caller must hold the VPC's lock exclusively.
create or replace function guard_nat_gateway_is_unused(args jsonb) returns boolean language sql volatile as $$
  select not exists (select from route where nat_gateway_id = (args->>'id')::uuid) $$;
