-- What nodes must apply for the VPCs, and what they have applied (docs/networking.md, "Network documents").

-- The underlay carries the packets of VPCs. The underlay address of a node is the address that an operator set, else
-- the address that its agent reported, else admin_ip.
alter table cn
  add column underlay_address inet check (family(underlay_address) = 4),
  add column underlay_mtu int check (underlay_mtu between 1280 and 9216),
  add column underlay_address_set inet check (family(underlay_address_set) = 4),
  add column underlay_mtu_set int check (underlay_mtu_set between 1280 and 9216);
alter table enrolment_claim
  add column underlay_address inet check (family(underlay_address) = 4),
  add column underlay_mtu int check (underlay_mtu between 1280 and 9216);
-- A pending record contains the data of an anonymous registration, so it does not reserve an address.
create unique index cn_underlay_address on cn ((coalesce(underlay_address_set, underlay_address)))
  where state <> 'pending';

-- Creates the view again, with the new columns of cn.
drop view cn_loaded;
create view cn_loaded as
  select cn.*, s.last_seen, s.last_status, p.reservoir_enabled, p.reservoir_percent, coalesce(p.traits, '{}') as traits,
         jsonb_build_object(
           'reserved', coalesce(p.reserved, false), 'reserved_reason', p.reserved_reason,
           'cordoned', coalesce(p.cordoned, false), 'cordoned_reason', p.cordoned_reason,
           'overprovision_cpu', p.overprovision_cpu, 'overprovision_ram', p.overprovision_ram,
           'overprovision_disk', p.overprovision_disk, 'fault_domain', p.fault_domain,
           'pinned_silo_uuid', p.pinned_silo_uuid, 'pinned_tenant_uuid', p.pinned_tenant_uuid, 'note', p.note) as placement,
         array(select r.mac from boot_record r where r.server_uuid = cn.server_uuid order by r.mac) as bound_macs,
         (select coalesce(jsonb_agg(jsonb_build_object(
                   'id', k.id, 'claim_code', k.claim_code, 'expires_at', k.expires_at, 'hostname', k.hostname,
                   'admin_ip', host(k.admin_ip), 'serial', k.serial, 'macs', k.macs, 'source', k.source,
                   'registration_id', k.registration_id, 'poll_token_sha256', k.poll_token_sha256)
                   order by k.expires_at, k.id), '[]')
            from enrolment_claim k
           where k.server_uuid = cn.server_uuid and k.expires_at > (select berth_now())) as claims
    from cn left join cn_signal s using (server_uuid) left join cn_placement p using (server_uuid);

-- The bridge to which a node attaches the external side of a gateway.
alter table cn_nic_tag add column bridge text;

-- The address of an external subnet's router for each family. Existing subnets get the first address of the block.
alter table external_subnet add column gateway_ipv4 inet, add column gateway_ipv6 inet;
update external_subnet set gateway_ipv4 = host(ipv4_block)::inet + 1, gateway_ipv6 = host(ipv6_block)::inet + 1;
alter table external_subnet
  add check (gateway_ipv4 << ipv4_block::inet),
  add check (gateway_ipv6 << ipv6_block::inet);

-- host_cn_uuid is the node that runs a NAT gateway. leaving_cn_uuid is the node that ran the gateway before, and may
-- still run it.
alter table nat_gateway
  add column host_cn_uuid uuid,
  add column leaving_cn_uuid uuid,
  add column left_at timestamptz,
  add constraint nat_gateway_leaving_whole check ((leaving_cn_uuid is null) = (left_at is null)),
  add constraint nat_gateway_one_host check (host_cn_uuid is null or leaving_cn_uuid is null);
create index nat_gateway_on_cn on nat_gateway (host_cn_uuid) where host_cn_uuid is not null;
create index nat_gateway_to_place on nat_gateway (id) where host_cn_uuid is null;

-- One row for each change of what nodes apply for a VPC. The generation of a VPC is the number of its changes that a
-- snapshot sees. So writers do not wait for each other, and two snapshots with the same generation see the same
-- changes.
create table vpc_change (
  id     bigint generated always as identity primary key,
  vpc_id uuid not null,
  -- The transaction of the change. With it, a read finds the changes that an earlier snapshot did not see.
  xid    xid8 not null default pg_current_xact_id(),
  at     timestamptz not null default clock_timestamp()
);
create index vpc_change_of_vpc on vpc_change (vpc_id);
create index vpc_change_by_xid on vpc_change (xid);
insert into vpc_change (vpc_id) select id from vpc;

-- The number of rows of vpc_change that were deleted for a VPC.
create table vpc_generation (
  vpc_id     uuid primary key,
  generation bigint not null check (generation > 0)
);

-- A node that may have the document of a VPC. The row is written before the document is read, and deleted when the node
-- no longer stores the document.
create table vpc_realization (
  vpc_id             uuid not null,
  server_uuid        uuid not null,
  generation         bigint not null default 0,
  status             text check (status in ('accepted', 'applied', 'failed')),
  message            text,
  applied_generation bigint,
  reported_at        timestamptz,
  primary key (vpc_id, server_uuid),
  check (applied_generation <= generation)
);
create index vpc_realization_of_cn on vpc_realization (server_uuid);

-- A deleted VPC. Its VNI is not used again while a node may have its document.
create table ended_vpc (
  vpc_id uuid primary key,
  vni    int not null
);
create index ended_vpc_vni on ended_vpc (vni);

create index nic_in_vpc on nic (vpc_id, instance_id);

-- The nodes that have a part of a VPC: the hosts of its NICs, even of stopped instances, and the hosts of its NAT
-- gateways.
create view vpc_node as
  select n.vpc_id, i.host_cn_uuid as server_uuid
    from nic n join instance i on i.id = n.instance_id where i.host_cn_uuid is not null
  union
  select vpc_id, host_cn_uuid from nat_gateway where host_cn_uuid is not null;
