-- Returns the nodes that cannot run the NAT gateway {gateway_id} because they run a gateway of the same VPC in another
-- external network, which is another NIC tag or VLAN. The router of a VPC has only one external network on each node.
create or replace function nodes_of_other_network(gateway_id uuid) returns uuid[] language sql stable as $$
  select coalesce(array_agg(distinct o.host_cn_uuid), '{}')
    from nat_gateway g
    join external_subnet e on e.ipv4_block >>= g.public_address or e.ipv6_block >>= g.public_address
    join nat_gateway o on o.vpc_id = g.vpc_id and o.id <> g.id and o.host_cn_uuid is not null
    join external_subnet x on x.ipv4_block >>= o.public_address or x.ipv6_block >>= o.public_address
   where g.id = gateway_id and (x.nic_tag, coalesce(x.vlan_id, 0)) <> (e.nic_tag, coalesce(e.vlan_id, 0)) $$;
