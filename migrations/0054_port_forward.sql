-- Port forwards of NAT gateways, and the counters of firewall rules (docs/networking.md).

-- A port forward: the connections to a TCP or UDP port of a NAT gateway's public address go to a NIC. The row is
-- deleted with the NIC.
create table port_forward (
  id             uuid primary key,
  incarnation    uuid not null,
  version        bigint not null check (version > 0),
  wake_at        timestamptz,
  state          text not null check (state = 'live'),
  tenant_id      uuid not null,
  project_id     uuid not null,
  vpc_id         uuid not null,
  nat_gateway_id uuid not null,
  nic_id         uuid not null,
  name           text not null,
  description    text not null,
  protocol       text not null check (protocol in ('tcp', 'udp')),
  public_port    int not null check (public_port between 1 and 65535),
  nic_port       int not null check (nic_port between 1 and 65535),
  created_at     timestamptz not null,
  constraint port_forward_name unique (vpc_id, name),
  constraint port_forward_port unique (nat_gateway_id, protocol, public_port),
  constraint port_forward_vpc_fkey foreign key (vpc_id, tenant_id, project_id)
    references vpc (id, tenant_id, project_id),
  constraint port_forward_nat_gateway_fkey foreign key (nat_gateway_id, vpc_id)
    references nat_gateway (id, vpc_id) on delete cascade,
  constraint port_forward_nic_fkey foreign key (nic_id) references nic (id) on delete cascade
);
create index port_forward_in_vpc on port_forward (vpc_id, id);
create index port_forward_to_nic on port_forward (nic_id);
insert into actor_kind values ('port-forward', 'port_forward', 'id');

-- The numbers of packets and bytes to which a node applied a firewall rule, as the node last reported them.
create table firewall_rule_count (
  rule_id     uuid not null references firewall_rule (id) on delete cascade,
  server_uuid uuid not null references cn (server_uuid) on delete cascade,
  packets     bigint not null check (packets >= 0),
  bytes       bigint not null check (bytes >= 0),
  counted_at  timestamptz not null,
  primary key (rule_id, server_uuid)
);
create index firewall_rule_count_of_cn on firewall_rule_count (server_uuid);
