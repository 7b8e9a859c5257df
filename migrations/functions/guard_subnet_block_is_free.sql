-- Returns 'true' when the block is free in the VPC; otherwise a text that names a subnet that the block overlaps.
-- Arguments: {vpc_id, block}. The caller must hold the VPC's lock exclusively.
create or replace function guard_subnet_block_is_free(args jsonb) returns text language sql volatile as $$
  select coalesce(
    (select format('%s of subnet %s (%s)', ipv4_block, name, id) from subnet
      where vpc_id = (args->>'vpc_id')::uuid and ipv4_block && (args->>'block')::inet limit 1),
    (select format('%s of subnet %s (%s)', ipv6_block, name, id) from subnet
      where vpc_id = (args->>'vpc_id')::uuid and ipv6_block && (args->>'block')::inet limit 1),
    'true') $$;
