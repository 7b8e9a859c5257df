-- Public addresses of tenants: NAT gateways and floating IPs (docs/networking.md). Both use the same pools. A row of
-- public_address names the one gateway or floating IP that has the address.
alter table pool
  -- The network of the pool's addresses. The networks of two pools never overlap.
  add column network cidr,
  add constraint pool_blocks_apart exclude using gist (network inet_ops with &&);

-- An allocation takes the lowest free address. The pools omit the network address, the next address (the gateway) and
-- the IPv4 broadcast address. The IPv6 pool ends at the offset 2^53 - 1; so many addresses are never in use.
insert into pool (id, base, network) values
  ('public:v4', '203.0.113.0', '203.0.113.0/24'), ('public:v6', '2001:db8::', '2001:db8::/48');
insert into pool_range (pool_id, low, high) values ('public:v4', 2, 254), ('public:v6', 2, 9007199254740991);

create table nat_gateway (
  id                 uuid primary key,
  incarnation        uuid not null,
  version            bigint not null check (version > 0),
  wake_at            timestamptz,
  state              text not null check (state = 'live'),
  tenant_id          uuid not null,
  project_id         uuid not null,
  vpc_id             uuid not null,
  name               text not null,
  description        text not null,
  family             text not null check (family in ('v4', 'v6')),
  public_address     inet not null,
  desired_generation int not null check (desired_generation > 0),
  created_at         timestamptz not null,
  updated_at         timestamptz not null,
  check (family(public_address) = case family when 'v4' then 4 else 6 end),
  constraint nat_gateway_name unique (vpc_id, name),
  constraint nat_gateway_in_vpc unique (id, vpc_id),
  constraint nat_gateway_address unique (id, public_address),
  constraint nat_gateway_of_vpc foreign key (vpc_id, tenant_id, project_id)
    references vpc (id, tenant_id, project_id)
);
create index nat_gateway_of_vpc_in_order on nat_gateway (vpc_id, id);

create table floating_ip (
  id                   uuid primary key,
  incarnation          uuid not null,
  version              bigint not null check (version > 0),
  wake_at              timestamptz,
  state                text not null check (state = 'live'),
  tenant_id            uuid not null,
  project_id           uuid not null,
  name                 text not null,
  description          text not null,
  address              inet not null,
  family               text not null check (family in ('v4', 'v6')),
  pool_id              text not null references pool (id),
  network_id           uuid,
  external_nic_tag     text,
  attached_to          uuid,
  attached_instance_id uuid,
  hosted_cn            uuid,
  created_at           timestamptz not null,
  updated_at           timestamptz not null,
  check (family(address) = case family when 'v4' then 4 else 6 end),
  check ((network_id is null) = (external_nic_tag is null)),
  constraint floating_ip_name unique (project_id, name),
  constraint floating_ip_address unique (id, address),
  constraint floating_ip_of_project foreign key (project_id, tenant_id) references project (id, tenant_id)
);
create index floating_ip_of_project_in_order on floating_ip (project_id, id);
create index floating_ip_attached on floating_ip (attached_to) where attached_to is not null;

create table public_address (
  address        inet constraint public_address_once primary key,
  nat_gateway_id uuid,
  floating_ip_id uuid,
  check (num_nonnulls(nat_gateway_id, floating_ip_id) = 1),
  constraint public_address_of_nat_gateway foreign key (nat_gateway_id, address)
    references nat_gateway (id, public_address),
  constraint public_address_of_floating_ip foreign key (floating_ip_id, address) references floating_ip (id, address)
);
create index public_address_by_nat_gateway on public_address (nat_gateway_id) where nat_gateway_id is not null;
create index public_address_by_floating_ip on public_address (floating_ip_id) where floating_ip_id is not null;
create index nat_gateway_by_address on nat_gateway (public_address);
create index floating_ip_by_address on floating_ip (address);
create index floating_ip_of_pool on floating_ip (pool_id);
-- Two rows name a public address: a row of nat_gateway or floating_ip, and a row of public_address. A commit writes the
-- row of public_address last, so the references to public_address are checked at the end of the commit.
alter table nat_gateway add constraint nat_gateway_has_address
  foreign key (public_address) references public_address (address) deferrable initially deferred;
alter table floating_ip add constraint floating_ip_has_address
  foreign key (address) references public_address (address) deferrable initially deferred;

-- A route refers only to a NAT gateway of its own VPC.
alter table route add constraint route_nat_gateway_fkey
  foreign key (nat_gateway_id, vpc_id) references nat_gateway (id, vpc_id);

insert into actor_kind values ('nat-gateway', 'nat_gateway', 'id'), ('floating-ip', 'floating_ip', 'id');

-- The caller holds the VPC's lock exclusively.
create function guard_nat_gateway_is_unused(args jsonb) returns boolean language sql volatile as $$
  select not exists (select from route where nat_gateway_id = (args->>'id')::uuid) $$;

create or replace function guard_vpc_is_empty(args jsonb) returns text language sql volatile as $$
  select coalesce(
    (select format('subnet %s (%s)', name, id) from subnet where vpc_id = (args->>'vpc_id')::uuid limit 1),
    (select format('route table %s (%s)', name, id) from route_table
      where vpc_id = (args->>'vpc_id')::uuid and not is_main limit 1),
    (select format('firewall rule %s (%s)', name, id) from firewall_rule
      where vpc_id = (args->>'vpc_id')::uuid limit 1),
    (select format('nat gateway %s (%s)', name, id) from nat_gateway where vpc_id = (args->>'vpc_id')::uuid limit 1),
    'true') $$;
create or replace function guard_project_is_empty(args jsonb) returns text language sql volatile as $$
  select coalesce(
    (select format('vpc %s (%s)', name, id) from vpc where project_id = (args->>'project_id')::uuid limit 1),
    (select format('floating ip %s (%s)', name, id) from floating_ip
      where project_id = (args->>'project_id')::uuid limit 1),
    'true') $$;
