-- Returns 'true' if the blocks overlap no allowed block of another NIC of the VPC. Otherwise names an allowed block
-- that they overlap, and its NIC. Arguments: {vpc_id, nic_id, blocks}. The caller must hold the VPC's lock exclusively.
create or replace function guard_nic_blocks_are_apart(args jsonb) returns text language sql volatile as $$
  select coalesce(
    (select format('%s of nic %s', c, n.id)
       from nic n, unnest(n.allowed_cidrs) c, jsonb_array_elements_text(args->'blocks') b
      where n.vpc_id = (args->>'vpc_id')::uuid and n.id <> (args->>'nic_id')::uuid and c && b::cidr limit 1),
    'true') $$;
