-- Returns 'true' if nothing uses the route table {route_table_id}, otherwise a text that names an object that uses it.
-- The caller must hold the VPC's lock exclusively.
create or replace function guard_route_table_is_unused(args jsonb) returns text language sql volatile as $$
  select coalesce(
    (select format('route %s (%s)', name, id) from route
      where route_table_id = (args->>'route_table_id')::uuid limit 1),
    (select format('subnet %s (%s)', name, id) from subnet
      where route_table_id = (args->>'route_table_id')::uuid limit 1),
    'true') $$;
