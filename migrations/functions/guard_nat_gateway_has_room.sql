-- Returns whether the NAT gateway {id} has fewer than {max} port forwards. The caller must hold the gateway's lock
-- exclusively.
create or replace function guard_nat_gateway_has_room(args jsonb) returns boolean language sql volatile as $$
  select count(*) < (args->>'max')::bigint from (
    select from port_forward where nat_gateway_id = (args->>'id')::uuid limit (args->>'max')::bigint) f $$;
