-- Returns 'true' if nothing uses the external subnet {id}, otherwise a text that names objects that use it. The
-- caller must hold the subnet's lock exclusively.
create or replace function guard_external_subnet_is_unused(args jsonb) returns text language sql volatile as $$
  select coalesce(berth_named(array(
    (select format('floating ip %s', id) from floating_ip where network_id = (args->>'id')::uuid limit 6)
    union all
    (select format('nat gateway %s', id) from nat_gateway where network_id = (args->>'id')::uuid limit 6)
    union all
    (select format('network pool %s (%s)', p.name, p.id) from network_pool_network n
       join network_pool p on p.id = n.network_pool_id where n.network_id = (args->>'id')::uuid limit 6)
    limit 6)), 'true') $$;
