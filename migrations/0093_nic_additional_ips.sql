-- Finds the NICs with additional addresses. Few NICs have any, so most writes do not change the index.
create index nic_with_additional_ips on nic (subnet_id) where additional_ips <> '{}';
