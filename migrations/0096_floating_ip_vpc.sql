-- The view also has the VPCs of the NICs of a floating IP. The job that releases the address names these VPCs.
create or replace view floating_ip_loaded as
  select f.*, s.vlan_id, n.vpc_id as attached_vpc_id, p.vpc_id as prior_vpc_id
    from floating_ip f
    left join external_subnet s on s.id = f.network_id
    left join nic n on n.id = f.attached_to
    left join nic p on p.id = f.prior_nic_id;
