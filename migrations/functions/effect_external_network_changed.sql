-- Increases the generation of every VPC that uses a public address in the block {ipv4_block} or {ipv6_block}.
create or replace function effect_external_network_changed(args jsonb) returns void language sql volatile as $$
  insert into vpc_change (vpc_id)
    select g.vpc_id from nat_gateway g
     where g.public_address <<= (args->>'ipv4_block')::inet or g.public_address <<= (args->>'ipv6_block')::inet
    union
    select n.vpc_id from floating_ip f join nic n on n.id = f.attached_to
     where f.address <<= (args->>'ipv4_block')::inet or f.address <<= (args->>'ipv6_block')::inet $$;
