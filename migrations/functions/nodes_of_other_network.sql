-- Returns the nodes that already run a gateway of the same VPC in another external network. These nodes cannot run the
-- NAT gateway gateway_id, because the router of a VPC has only one external network on each node. On a node, two
-- external subnets are in the same network if they have the same bridge and VLAN, even if their NIC tags differ.
create or replace function nodes_of_other_network(gateway_id uuid) returns uuid[] language sql stable as $$
  select coalesce(array_agg(distinct o.host_cn_uuid), '{}')
    from nat_gateway g
    join external_subnet e on e.ipv4_block >>= g.public_address or e.ipv6_block >>= g.public_address
    join nat_gateway o on o.vpc_id = g.vpc_id and o.id <> g.id and o.host_cn_uuid is not null
    join external_subnet x on x.ipv4_block >>= o.public_address or x.ipv6_block >>= o.public_address
    left join cn_nic_tag t on t.server_uuid = o.host_cn_uuid and t.name = e.nic_tag
    left join cn_nic_tag u on u.server_uuid = o.host_cn_uuid and u.name = x.nic_tag
   where g.id = gateway_id and (u.bridge, x.vlan_id) is distinct from (t.bridge, e.vlan_id) $$;
