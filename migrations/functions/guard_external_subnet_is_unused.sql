-- Returns 'true' if nothing uses the external subnet {id}, otherwise a text that names objects that use it. The
-- caller must hold the subnet's lock exclusively. Also names the addresses of guard_external_subnet_is_off_nodes,
-- because processes of earlier releases do not call that guard.
create or replace function guard_external_subnet_is_unused(args jsonb) returns text language sql volatile as $$
  select coalesce(berth_named(array(
    (select format('floating ip %s', id) from floating_ip where network_id = (args->>'id')::uuid limit 6)
    union all
    (select format('nat gateway %s', id) from nat_gateway where network_id = (args->>'id')::uuid limit 6)
    union all
    (select format('network pool %s (%s)', p.name, p.id) from network_pool_network n
       join network_pool p on p.id = n.network_pool_id where n.network_id = (args->>'id')::uuid limit 6)
    union all
    (select format('address %s of a deleted nat gateway on node %s', host(r.address), r.leaving_cn_uuid)
       from pool p join resting_address r on r.address <<= p.network
      where p.id in ('external:' || (args->>'id') || ':v4', 'external:' || (args->>'id') || ':v6')
      order by r.address limit 6)
    limit 6)), 'true') $$;
