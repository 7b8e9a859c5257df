-- Returns 'true' if nothing is in the VPC {vpc_id}, otherwise a text that names objects in it. The main route table
-- does not count. The caller must hold the VPC's lock exclusively.
create or replace function guard_vpc_is_empty(args jsonb) returns text language sql volatile as $$
  select coalesce(berth_named(array(
    (select format('subnet %s (%s)', name, id) from subnet where vpc_id = (args->>'vpc_id')::uuid limit 6)
    union all
    (select format('route table %s (%s)', name, id) from route_table
      where vpc_id = (args->>'vpc_id')::uuid and not is_main limit 6)
    union all
    (select format('firewall rule %s (%s)', name, id) from firewall_rule
      where vpc_id = (args->>'vpc_id')::uuid limit 6)
    union all
    (select format('nat gateway %s (%s)', name, id) from nat_gateway where vpc_id = (args->>'vpc_id')::uuid limit 6)
    limit 6)), 'true') $$;
