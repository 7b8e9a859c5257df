-- Returns 'true' if the blocks {ipv4_block, ipv6_block} of a new external subnet overlap no external subnet and no
-- fixed pool (public:v4, public:v6). Otherwise returns a text that names a subnet or pool that they overlap. A fixed
-- pool whose block equals the new block does not count, because the new external subnet then takes its addresses from
-- this pool. The caller must hold the lock external-subnets.
create or replace function guard_external_subnet_is_apart(args jsonb) returns text language sql volatile as $$
  select coalesce(
    (select format('external subnet %s (%s)', name, id) from external_subnet
      where ipv4_block && (args->>'ipv4_block')::cidr or ipv6_block && (args->>'ipv6_block')::cidr
      order by id limit 1),
    (select format('the public pool %s', network) from pool
      where id like 'public:%' and ((network && (args->>'ipv4_block')::cidr and network <> (args->>'ipv4_block')::cidr)
                                 or (network && (args->>'ipv6_block')::cidr and network <> (args->>'ipv6_block')::cidr))
      order by id limit 1),
    'true') $$;
