-- What operators provide for public addresses: NIC tags, external subnets, and pools of external subnets
-- (docs/networking.md, "What an operator provides").
create table nic_tag (
  id          uuid primary key,
  incarnation uuid not null,
  version     bigint not null check (version > 0),
  wake_at     timestamptz,
  state       text not null check (state = 'live'),
  name        text not null,
  description text not null,
  mtu         int not null check (mtu between 1280 and 9216),
  created_at  timestamptz not null,
  constraint nic_tag_name unique (name)
);

create table external_subnet (
  id                   uuid primary key,
  incarnation          uuid not null,
  version              bigint not null check (version > 0),
  wake_at              timestamptz,
  state                text not null check (state = 'live'),
  name                 text not null,
  description          text not null,
  nic_tag              text not null constraint external_subnet_nic_tag references nic_tag (name),
  vlan_id              int check (vlan_id between 0 and 4094),
  ipv4_block           cidr check (family(ipv4_block) = 4),
  ipv6_block           cidr check (family(ipv6_block) = 6),
  provision_start_ipv4 inet check (provision_start_ipv4 << ipv4_block),
  provision_end_ipv4   inet check (provision_end_ipv4 << ipv4_block),
  provision_start_ipv6 inet check (provision_start_ipv6 << ipv6_block),
  provision_end_ipv6   inet check (provision_end_ipv6 << ipv6_block),
  owner_silos          uuid[] not null,
  created_at           timestamptz not null,
  check (ipv4_block is not null or ipv6_block is not null),
  check (num_nulls(ipv4_block, provision_start_ipv4, provision_end_ipv4) in (0, 3)),
  check (num_nulls(ipv6_block, provision_start_ipv6, provision_end_ipv6) in (0, 3)),
  check (provision_start_ipv4 <= provision_end_ipv4 and provision_start_ipv6 <= provision_end_ipv6),
  constraint external_subnet_name unique (name),
  constraint external_subnet_ipv4_apart exclude using gist (ipv4_block inet_ops with &&),
  constraint external_subnet_ipv6_apart exclude using gist (ipv6_block inet_ops with &&)
);
create index external_subnet_on_tag on external_subnet (nic_tag);

alter table floating_ip add constraint floating_ip_network foreign key (network_id) references external_subnet (id);
create index floating_ip_of_network on floating_ip (network_id) where network_id is not null;

create table network_pool (
  id          uuid primary key,
  incarnation uuid not null,
  version     bigint not null check (version > 0),
  wake_at     timestamptz,
  state       text not null check (state = 'live'),
  name        text not null,
  description text not null,
  -- Allocations try the networks in this order. The foreign keys to the networks are in network_pool_network.
  networks    uuid[] not null check (cardinality(networks) > 0),
  owner_silos uuid[] not null,
  created_at  timestamptz not null,
  constraint network_pool_name unique (name)
);
create table network_pool_network (
  network_pool_id uuid not null references network_pool (id),
  network_id      uuid not null references external_subnet (id),
  primary key (network_pool_id, network_id)
);
create index network_pool_of_network on network_pool_network (network_id);

insert into actor_kind values ('nic-tag', 'nic_tag', 'id'), ('external-subnet', 'external_subnet', 'id'),
  ('network-pool', 'network_pool', 'id');

create function guard_nic_tag_exists(args jsonb) returns boolean language sql volatile as $$
  select exists (select from nic_tag where name = args->>'name') $$;
-- Returns what still uses the NIC tag {name}, or 'true'. The caller holds the tag's lock exclusively.
create function guard_nic_tag_is_unused(args jsonb) returns text language sql volatile as $$
  select coalesce(
    (select format('external subnet %s (%s)', name, id) from external_subnet
      where nic_tag = args->>'name' order by id limit 1),
    'true') $$;

-- Returns the first id of {silos} that is not a silo, or 'true'.
create function guard_silos_exist(args jsonb) returns text language sql volatile as $$
  select coalesce(
    (select g.id from jsonb_array_elements_text(args->'silos') with ordinality g(id, n)
      where not exists (select from silo s where s.id = g.id::uuid) order by g.n limit 1),
    'true') $$;
-- Returns the first id of {networks} that is not an external subnet, or 'true'. The caller holds the locks of these
-- subnets shared.
create function guard_external_subnets_exist(args jsonb) returns text language sql volatile as $$
  select coalesce(
    (select g.id from jsonb_array_elements_text(args->'networks') with ordinality g(id, n)
      where not exists (select from external_subnet s where s.id = g.id::uuid) order by g.n limit 1),
    'true') $$;

-- Returns what a new external subnet {ipv4_block, ipv6_block} would overlap, or 'true'. A block may be equal to the
-- network of a fixed pool (public:v4 or public:v6): then the subnet and the pool share the addresses. The caller holds
-- the lock external-subnets.
create function guard_external_subnet_is_apart(args jsonb) returns text language sql volatile as $$
  select coalesce(
    (select format('external subnet %s (%s)', name, id) from external_subnet
      where ipv4_block && (args->>'ipv4_block')::cidr or ipv6_block && (args->>'ipv6_block')::cidr
      order by id limit 1),
    (select format('the public pool %s', network) from pool
      where id like 'public:%' and ((network && (args->>'ipv4_block')::cidr and network <> (args->>'ipv4_block')::cidr)
                                 or (network && (args->>'ipv6_block')::cidr and network <> (args->>'ipv6_block')::cidr))
      order by id limit 1),
    'true') $$;
-- Returns what still uses the external subnet {id}, or 'true'. The caller holds the subnet's lock exclusively.
create function guard_external_subnet_is_unused(args jsonb) returns text language sql volatile as $$
  select coalesce(
    (select format('floating ip %s', id) from floating_ip where network_id = (args->>'id')::uuid limit 1),
    (select format('network pool %s (%s)', p.name, p.id) from network_pool_network n
       join network_pool p on p.id = n.network_pool_id where n.network_id = (args->>'id')::uuid limit 1),
    'true') $$;

-- Whether the silo {silo_id} may use the external subnet {network_id}. If {network_pool_id} is given, the silo must
-- also be allowed to use this pool, and the pool must contain the subnet.
create function guard_external_network_is_offered(args jsonb) returns boolean language sql volatile as $$
  select exists (select from external_subnet s
                  where s.id = (args->>'network_id')::uuid
                    and (s.owner_silos = '{}' or (args->>'silo_id')::uuid = any(s.owner_silos)))
     and (args->>'network_pool_id' is null or exists (
           select from network_pool p
            where p.id = (args->>'network_pool_id')::uuid and (args->>'network_id')::uuid = any(p.networks)
              and (p.owner_silos = '{}' or (args->>'silo_id')::uuid = any(p.owner_silos)))) $$;
