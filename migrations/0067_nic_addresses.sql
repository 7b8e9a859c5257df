-- Additional addresses of a NIC, and the blocks from which its guest may send besides its own addresses. The additional
-- addresses are from the pool of the NIC's subnet. A VPC routes each block to one NIC, so the blocks of two NICs of a
-- VPC never overlap.
alter table nic
  add column additional_ips inet[] not null default '{}',
  add column allowed_cidrs  cidr[] not null default '{}';
create index nic_by_additional_ip on nic using gin (additional_ips);
