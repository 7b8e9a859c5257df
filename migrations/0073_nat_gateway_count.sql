-- The number of connections that started through a NAT gateway on one node, as the node last reported it.
create table nat_gateway_count (
  nat_gateway_id uuid not null references nat_gateway (id) on delete cascade,
  server_uuid    uuid not null references cn (server_uuid) on delete cascade,
  connections    bigint not null check (connections >= 0),
  counted_at     timestamptz not null,
  primary key (nat_gateway_id, server_uuid)
);
create index nat_gateway_count_of_cn on nat_gateway_count (server_uuid);
