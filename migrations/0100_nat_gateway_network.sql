-- The external subnet of a NAT gateway's address, the subnet's NIC tag, and the pool to which a deletion returns the
-- address. All three are null if the address is from the fixed pool of its family (public:v4 or public:v6).
alter table nat_gateway
  add column network_id       uuid constraint nat_gateway_network references external_subnet (id),
  add column external_nic_tag text,
  add column pool_id          text constraint nat_gateway_pool references pool (id),
  add constraint nat_gateway_network_and_pool check (num_nulls(network_id, external_nic_tag, pool_id) in (0, 3));
create index nat_gateway_of_network on nat_gateway (network_id) where network_id is not null;
create index nat_gateway_of_pool on nat_gateway (pool_id) where pool_id is not null;
