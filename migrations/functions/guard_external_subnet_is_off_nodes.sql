-- Looks for nodes that can still answer for an address that a deleted NAT gateway had from the external subnet {id}.
-- Returns 'true' if no such node exists, otherwise a text that names the node and the address. The addresses of a fixed
-- pool do not count, because they stay in the pool when the subnet is deleted. The caller must hold the subnet's lock
-- exclusively.
create or replace function guard_external_subnet_is_off_nodes(args jsonb) returns text language sql volatile as $$
  select coalesce(
    (select format('node %s may still answer for %s', r.leaving_cn_uuid, host(r.address))
       from pool p join resting_address r on r.address <<= p.network
      where p.id in ('external:' || (args->>'id') || ':v4', 'external:' || (args->>'id') || ':v6')
      order by r.address limit 1),
    'true') $$;
