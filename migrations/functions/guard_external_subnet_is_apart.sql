-- Returns the external subnet or pool that a new external subnet {ipv4_block, ipv6_block} overlaps, or 'true' if it
-- overlaps none. A block equal to the block of a fixed pool is accepted: both share its addresses. The caller must hold
-- the lock external-subnets.
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
