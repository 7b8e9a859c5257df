-- Overlay networks of tenants: VPCs with subnets, route tables, routes and firewall rules (docs/networking.md). Each
-- object in a VPC contains the VPC's tenant and project, and foreign keys keep them equal (INV-15). A commit that adds
-- an object to a VPC holds the lock vpc:<id> shared. A commit that deletes an object, or that must see all subnets,
-- holds the lock exclusively.
create extension if not exists btree_gist;

create table vpc (
  id                  uuid primary key,
  incarnation         uuid not null,
  version             bigint not null check (version > 0),
  wake_at             timestamptz,
  state               text not null check (state = 'live'),
  tenant_id           uuid not null,
  project_id          uuid not null,
  main_route_table_id uuid not null,
  name                text not null,
  description         text not null,
  vni                 int not null check (vni between 4096 and 16777215),
  ipv4_block          cidr check (family(ipv4_block) = 4),
  ipv6_block          cidr check (family(ipv6_block) = 6),
  created_at          timestamptz not null,
  check (ipv4_block is not null or ipv6_block is not null),
  constraint vpc_name unique (project_id, name),
  constraint vpc_vni unique (vni),
  constraint vpc_project_fkey foreign key (project_id, tenant_id) references project (id, tenant_id),
  constraint vpc_owner unique (id, tenant_id, project_id),
  -- A subnet repeats the blocks of its VPC, so that a check of the subnet's row can use them.
  constraint vpc_ipv4_plan unique (id, ipv4_block),
  constraint vpc_ipv6_plan unique (id, ipv6_block)
);
create index vpc_of_project on vpc (project_id, id);

create table route_table (
  id          uuid primary key,
  incarnation uuid not null,
  version     bigint not null check (version > 0),
  wake_at     timestamptz,
  state       text not null check (state = 'live'),
  tenant_id   uuid not null,
  project_id  uuid not null,
  vpc_id      uuid not null,
  name        text not null,
  description text not null,
  is_main     boolean not null check (not is_main or name = 'main'),
  created_at  timestamptz not null,
  constraint route_table_name unique (vpc_id, name),
  constraint route_table_of_vpc unique (id, vpc_id),
  -- One call creates or deletes both a VPC and its main table, in the alphabetical order of their kinds. So this
  -- reference is checked at the end of the commit.
  constraint route_table_vpc_fkey foreign key (vpc_id, tenant_id, project_id)
    references vpc (id, tenant_id, project_id) deferrable initially deferred
);
create unique index route_table_one_main on route_table (vpc_id) where is_main;
create index route_table_in_vpc on route_table (vpc_id, id);
alter table vpc add constraint vpc_main_route_table_fkey foreign key (main_route_table_id, id)
  references route_table (id, vpc_id) deferrable initially deferred;

create table subnet (
  id             uuid primary key,
  incarnation    uuid not null,
  version        bigint not null check (version > 0),
  wake_at        timestamptz,
  state          text not null check (state = 'live'),
  tenant_id      uuid not null,
  project_id     uuid not null,
  vpc_id         uuid not null,
  route_table_id uuid not null,
  name           text not null,
  description    text not null,
  ipv4_block     cidr check (family(ipv4_block) = 4 and masklen(ipv4_block) <= 30),
  ipv6_block     cidr check (family(ipv6_block) = 6 and masklen(ipv6_block) <= 126),
  vpc_ipv4_block cidr,
  vpc_ipv6_block cidr,
  created_at     timestamptz not null,
  check (ipv4_block is not null or ipv6_block is not null),
  -- The subnet's block of a family is inside the VPC's block of this family. The foreign keys below keep vpc_ipv4_block
  -- and vpc_ipv6_block equal to the blocks in the VPC's row.
  check (case when ipv4_block is null then vpc_ipv4_block is null
              else vpc_ipv4_block is not null and ipv4_block <<= vpc_ipv4_block end),
  check (case when ipv6_block is null then vpc_ipv6_block is null
              else vpc_ipv6_block is not null and ipv6_block <<= vpc_ipv6_block end),
  constraint subnet_ipv4_plan_fkey foreign key (vpc_id, vpc_ipv4_block) references vpc (id, ipv4_block),
  constraint subnet_ipv6_plan_fkey foreign key (vpc_id, vpc_ipv6_block) references vpc (id, ipv6_block),
  constraint subnet_vpc_fkey foreign key (vpc_id, tenant_id, project_id) references vpc (id, tenant_id, project_id),
  constraint subnet_route_table_fkey foreign key (route_table_id, vpc_id) references route_table (id, vpc_id),
  constraint subnet_name unique (vpc_id, name),
  constraint subnet_owner unique (id, vpc_id, tenant_id, project_id),
  constraint subnet_ipv4_apart exclude using gist (vpc_id with =, ipv4_block inet_ops with &&),
  constraint subnet_ipv6_apart exclude using gist (vpc_id with =, ipv6_block inet_ops with &&)
);
create index subnet_in_vpc on subnet (vpc_id, id);
create index subnet_of_route_table on subnet (route_table_id);

create table route (
  id             uuid primary key,
  incarnation    uuid not null,
  version        bigint not null check (version > 0),
  wake_at        timestamptz,
  state          text not null check (state = 'live'),
  tenant_id      uuid not null,
  project_id     uuid not null,
  vpc_id         uuid not null,
  route_table_id uuid not null,
  name           text not null,
  description    text not null,
  destination    cidr not null,
  -- A tenant cannot set a floating IP as the target of a route.
  target_kind    text not null check (target_kind in ('blackhole', 'reject', 'virtual_gateway', 'nat_gateway')),
  nat_gateway_id uuid,
  created_at     timestamptz not null,
  check ((target_kind = 'nat_gateway') = (nat_gateway_id is not null)),
  constraint route_destination unique (route_table_id, destination),
  constraint route_route_table_fkey foreign key (route_table_id, vpc_id) references route_table (id, vpc_id),
  constraint route_vpc_fkey foreign key (vpc_id, tenant_id, project_id) references vpc (id, tenant_id, project_id)
);
create index route_in_table on route (route_table_id, id);
create index route_in_vpc on route (vpc_id);
create index route_to_nat_gateway on route (nat_gateway_id) where nat_gateway_id is not null;

create table firewall_rule (
  id                uuid primary key,
  incarnation       uuid not null,
  version           bigint not null check (version > 0),
  wake_at           timestamptz,
  state             text not null check (state = 'live'),
  tenant_id         uuid not null,
  project_id        uuid not null,
  vpc_id            uuid not null,
  name              text not null,
  description       text not null,
  priority          int not null check (priority between 0 and 65535),
  direction         text not null check (direction in ('inbound', 'outbound')),
  action            text not null check (action in ('allow', 'deny')),
  protocol          text not null check (protocol in ('any', 'tcp', 'udp', 'icmp4', 'icmp6')),
  source_cidr       cidr,
  destination_cidr  cidr,
  source_ports      jsonb check ((source_ports->'low')::int <= (source_ports->'high')::int),
  destination_ports jsonb check ((destination_ports->'low')::int <= (destination_ports->'high')::int),
  icmp_type_code    jsonb,
  created_at        timestamptz not null,
  check (family(source_cidr) = family(destination_cidr)),
  check (protocol in ('tcp', 'udp') or (source_ports is null and destination_ports is null)),
  check (protocol in ('icmp4', 'icmp6') or icmp_type_code is null),
  constraint firewall_rule_name unique (vpc_id, name),
  constraint firewall_rule_vpc_fkey foreign key (vpc_id, tenant_id, project_id)
    references vpc (id, tenant_id, project_id)
);
create index firewall_rule_in_vpc on firewall_rule (vpc_id, id);

insert into actor_kind values ('vpc', 'vpc', 'id'), ('subnet', 'subnet', 'id'), ('route-table', 'route_table', 'id'),
  ('route', 'route', 'id'), ('firewall-rule', 'firewall_rule', 'id');

-- The caller holds the lock pool:vni.
create function guard_vni_is_free(args jsonb) returns boolean language sql volatile as $$
  select not exists (select from vpc where vni = (args->>'vni')::int) $$;

-- Returns a subnet whose block overlaps {block} in the VPC {vpc_id}, or 'true'. The caller holds the VPC's lock
-- exclusively.
create function guard_subnet_block_is_free(args jsonb) returns text language sql volatile as $$
  select coalesce(
    (select format('%s of subnet %s (%s)', ipv4_block, name, id) from subnet
      where vpc_id = (args->>'vpc_id')::uuid and ipv4_block && (args->>'block')::inet limit 1),
    (select format('%s of subnet %s (%s)', ipv6_block, name, id) from subnet
      where vpc_id = (args->>'vpc_id')::uuid and ipv6_block && (args->>'block')::inet limit 1),
    'true') $$;

-- Returns what still uses a route table, or 'true'. The caller holds the VPC's lock exclusively.
create function guard_route_table_is_unused(args jsonb) returns text language sql volatile as $$
  select coalesce(
    (select format('route %s (%s)', name, id) from route
      where route_table_id = (args->>'route_table_id')::uuid limit 1),
    (select format('subnet %s (%s)', name, id) from subnet
      where route_table_id = (args->>'route_table_id')::uuid limit 1),
    'true') $$;

-- Later migrations replace these functions when they add objects of subnets, VPCs and projects.
create function guard_subnet_is_empty(args jsonb) returns text language sql volatile as $$ select 'true' $$;
create function guard_vpc_is_empty(args jsonb) returns text language sql volatile as $$
  select coalesce(
    (select format('subnet %s (%s)', name, id) from subnet where vpc_id = (args->>'vpc_id')::uuid limit 1),
    (select format('route table %s (%s)', name, id) from route_table
      where vpc_id = (args->>'vpc_id')::uuid and not is_main limit 1),
    (select format('firewall rule %s (%s)', name, id) from firewall_rule
      where vpc_id = (args->>'vpc_id')::uuid limit 1),
    'true') $$;
create or replace function guard_project_is_empty(args jsonb) returns text language sql volatile as $$
  select coalesce(
    (select format('vpc %s (%s)', name, id) from vpc where project_id = (args->>'project_id')::uuid limit 1),
    'true') $$;

-- Deletes the routes of a VPC. When a VPC is deleted, only its main table is left, so all routes are in this table.
create function effect_vpc_routes_gone(args jsonb) returns void language sql volatile as $$
  delete from route where vpc_id = (args->>'vpc_id')::uuid $$;
