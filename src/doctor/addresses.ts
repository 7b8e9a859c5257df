// Checks INV-7, which is about pools and counters. Each value of a pool has at most one holder. The free and the used
// values together are the whole pool. Each counter equals the sum over the rows that it counts.
import { CPU_UNITS_PER_VCPU, POOL_OFFSET_MAX, SUBNET_ADDRESSES_KEPT } from "../contract/limits.ts";
import { type Check, invariant } from "./check.ts";

/** SQL that lists each public address in use, with its holder and its pool. */
const HELD_PUBLIC = `
  select 'nat gateway ' || id as holder, coalesce(pool_id, 'public:' || family) as pool_id, public_address as address
    from nat_gateway
   union all select 'floating ip ' || id, pool_id, address from floating_ip`;

/** SQL that lists each address in use outside of subnets, with its holder and its pool. */
const HELD_OUTSIDE = `${HELD_PUBLIC}
   union all select 'deleted nat gateway of node ' || leaving_cn_uuid, p.id, address
               from resting_address left join pool p on p.network >>= address
   union all select 'boot record ' || mac, 'admin-network', address from boot_record where address is not null`;

/** SQL that lists the additional addresses of NICs. An index finds the NICs that have additional addresses. */
const ADDITIONAL = `
  select n.id, n.subnet_id, a as address from nic n, unnest(n.additional_ips) a where n.additional_ips <> '{}'`;

/**
 * SQL that finds primary addresses of NICs that are also free in the pool of their subnet, at most one in each free
 * range. It looks up each free range in the index of the addresses, because a subnet has fewer free ranges than NICs.
 */
const freeOfNics = (family: 4 | 6) => `
  select format('%s of nic %s', host(n.address), n.id)
    from subnet s join pool p on p.id = 'subnet:' || s.id || ':v${family}' join pool_range f on f.pool_id = p.id
    cross join lateral (
      select id, primary_ipv${family} as address from nic
       where subnet_id = s.id
         and primary_ipv${family} between host(p.base)::inet + f.low and host(p.base)::inet + f.high limit 1) n`;

/** SQL that lists the ranges of the admin network and of the racks' networks. */
const BOOT_NETWORKS = `
  select (n->>'provision_start_ipv4')::inet as low, (n->>'provision_end_ipv4')::inet as high,
         (n->>'gateway')::inet as gateway
    from boot_policy, jsonb_array_elements(rack_networks || coalesce(nullif(admin_network, 'null'), '[]')) n`;

/**
 * SQL that lists how many addresses of each pool are in use. For the primary addresses of NICs, it reads only an index.
 */
const HELD_COUNTS = `
  select pool_id, count(*) as held from (${HELD_OUTSIDE}) h
   where pool_id <> 'admin-network' or exists (select from (${BOOT_NETWORKS}) n where h.address between n.low and n.high)
   group by 1
   union all select 'subnet:' || subnet_id || ':v4', count(*) from nic where primary_ipv4 is not null group by subnet_id
   union all select 'subnet:' || subnet_id || ':v' || family(address), count(*) from (${ADDITIONAL}) a
              group by subnet_id, family(address)`;

/**
 * SQL that lists how many addresses each pool can allocate. Does not count broadcast addresses, and omits the IPv6
 * pools of subnets and external subnets.
 */
const SIZES = `
  select 'subnet:' || id || ':v4' as pool_id,
         (2::bigint ^ (32 - masklen(ipv4_block)))::bigint - ${SUBNET_ADDRESSES_KEPT} - 1 as wanted from subnet
   where ipv4_block is not null
   union all select 'external:' || id || ':v4', provision_end_ipv4 - provision_start_ipv4 + 1 from external_subnet
    where ipv4_block is not null and exists (select from pool p where p.id = 'external:' || external_subnet.id || ':v4')
   union all select p.id, (2::bigint ^ (32 - masklen(p.network)))::bigint - ${SUBNET_ADDRESSES_KEPT} - 1 from pool p
    where p.id = 'public:v4'
   union all select id, ${POOL_OFFSET_MAX} - ${SUBNET_ADDRESSES_KEPT} + 1 from pool where id = 'public:v6'
   union all select 'admin-network', sum(high - low + 1 - (case when gateway between low and high then 1 else 0 end))
     from (${BOOT_NETWORKS}) networks having count(*) > 0`;

export const ADDRESS_CHECKS: readonly Check[] = [
  invariant(
    "INV-7",
    "a boot record's address is unique, in the network of its gateway, and not the network, broadcast or gateway " +
      "address",
    `
    select format('boot record %s has %s', mac, host(address)) as what from (
      select *, set_masklen(address, (networking->>'prefix_len')::int) as own,
             count(*) over (partition by address) as times from boot_record where address is not null) r
     where times > 1 or networking->>'address' <> host(address) or address = host(network(own))::inet
        or address = host(broadcast(own))::inet or host(address) = networking->>'gateway'
        or not (networking->>'gateway')::inet << network(own)`,
  ),
  invariant(
    "INV-7",
    "no address has two holders",
    `
    select format('%s is held by %s', host(address), string_agg(holder, ' and ')) as what
      from (${HELD_OUTSIDE} union all select 'nic ' || id, subnet_id::text, address from (${ADDITIONAL}) a) h
     group by pool_id, address having count(*) > 1
     -- Two primary addresses of a subnet differ because of a constraint.
    union all select format('%s is held by nic %s and nic %s', host(a.address), a.id, n.id) from (${ADDITIONAL}) a
      join nic n on n.subnet_id = a.subnet_id and n.primary_ipv4 = a.address
    union all select format('%s is held by nic %s and nic %s', host(a.address), a.id, n.id) from (${ADDITIONAL}) a
      join nic n on n.subnet_id = a.subnet_id and n.primary_ipv6 = a.address`,
  ),
  invariant(
    "INV-7",
    "no address is both free and in use",
    `
    select format('%s of %s', host(h.address), h.holder) as what
      from (${HELD_OUTSIDE} union all select 'nic ' || id, 'subnet:' || subnet_id || ':v' || family(address), address
                              from (${ADDITIONAL}) a) h
      join pool p on p.id = h.pool_id
      -- The limit makes PostgreSQL look up each address in the index of the ranges.
      cross join lateral (select low from pool_range where pool_id = p.id and high >= h.address - p.base
                           order by high limit 1) f
     where h.address - p.base >= f.low
    union all ${freeOfNics(4)} union all ${freeOfNics(6)}`,
  ),
  invariant(
    "INV-7",
    "the free and the used addresses of a pool add up to its size",
    `
    select format('pool %s: %s free and %s held of %s', s.pool_id, coalesce(f.free, 0), coalesce(h.held, 0),
                  s.wanted) as what
      from (${SIZES}) s
      left join (select pool_id, sum(high - low + 1) as free from pool_range group by pool_id) f using (pool_id)
      left join (select pool_id, sum(held) as held from (${HELD_COUNTS}) c group by 1) h using (pool_id)
     where s.wanted <> coalesce(f.free, 0) + coalesce(h.held, 0)`,
  ),
  invariant(
    "INV-7",
    "each public address is recorded with its holder",
    `
    select format('%s of %s', host(h.address), h.holder) as what from (${HELD_PUBLIC}) h
      left join public_address a on a.address = h.address
     where h.holder is distinct from coalesce('nat gateway ' || a.nat_gateway_id, 'floating ip ' || a.floating_ip_id)`,
  ),
  invariant(
    "INV-7",
    "no two VPCs have the same VNI",
    `
    select format('VNI %s of VPCs %s', vni, string_agg(id::text, ', ')) as what from vpc
     group by vni having count(*) > 1`,
  ),
  invariant(
    "INV-7",
    "no VPC has the VNI of a deleted VPC that a node may still have",
    `
    select format('VNI %s of VPC %s and of the deleted VPC %s on node %s', v.vni, v.id, e.vpc_id, r.server_uuid) as what
      from vpc v join ended_vpc e on e.vni = v.vni join vpc_realization r on r.vpc_id = e.vpc_id`,
  ),
  invariant(
    "INV-7",
    "a NAT gateway gets no new node while its last node may still run it",
    `
    select format('NAT gateway %s runs on node %s and leaves node %s', id, host_cn_uuid, leaving_cn_uuid) as what
      from nat_gateway where host_cn_uuid is not null and leaving_cn_uuid is not null`,
  ),
  invariant(
    "INV-7",
    "the generation of a VPC is at least 1, and no node reported a later generation",
    `
    select format('VPC %s has generation %s; node %s reported %s', v.id, g.generation, r.server_uuid, r.generation)
             as what
      from vpc v cross join lateral (select berth_vpc_generation(v.id) as generation offset 0) g
      left join vpc_realization r on r.vpc_id = v.id
     where g.generation < greatest(1, r.generation)`,
  ),
  invariant(
    "INV-7",
    "a node's counted use equals the sum over its instances and the instances that move to or from it",
    `
    select format('node %s: counted %s, in use %s', server_uuid, u.used, w.used) as what
      from (select server_uuid, array[cpu_units, ram_mb, disk_bytes, instances] as used from cn_usage) u
      full join (select i.server_uuid,
                        array[sum(i.cpu) * ${CPU_UNITS_PER_VCPU}, sum(i.memory_bytes / 1048576),
                              coalesce(sum(d.bytes), 0),
                              count(*)]::bigint[] as used
                   from (select id, host_cn_uuid as server_uuid, cpu, memory_bytes from instance
                          where host_cn_uuid is not null
                         union all
                         -- Both nodes reserve room. An evacuated instance is on its new node from the start.
                         select i.id, case i.host_cn_uuid when m.target_cn then m.source_cn else m.target_cn end,
                                i.cpu, i.memory_bytes
                           from migration m join instance i on i.id = m.instance_id
                          where not berth_migration_ended(m.state)) i
                        left join (select instance_id, sum(size_bytes) as bytes from disk group by 1) d
                          on d.instance_id = i.id
                  group by 1) w using (server_uuid)
     where coalesce(u.used, '{0,0,0,0}') <> coalesce(w.used, '{0,0,0,0}')`,
  ),
  invariant(
    "INV-7",
    "a node's count of a tenant's instances equals the number that it hosts",
    `
    select format('node %s, tenant %s: counted %s, hosted %s', server_uuid, tenant_id, u.instances, w.instances) as what
      from cn_tenant_usage u
      full join (select host_cn_uuid as server_uuid, tenant_id, count(*) as instances
                   from instance where host_cn_uuid is not null group by 1, 2) w using (server_uuid, tenant_id)
     where u.instances is distinct from w.instances`,
  ),
  invariant(
    "INV-7",
    "a project's counted use equals the sum over its instances",
    `
    select format('project %s: counted %s, in use %s', project_id, u.used, w.used) as what
      from (select project_id, array[cpu, memory_bytes, disk_bytes, instances] as used from project_usage) u
      full join (select project_id, array[sum(cpu), sum(memory), sum(disk), sum(instances)]::bigint[] as used
                   from (select project_id, sum(cpu) as cpu, sum(memory_bytes) as memory, 0 as disk, count(*) as instances
                           from instance group by 1
                         union all
                         select project_id, 0, 0, sum(size_bytes), 0 from disk group by 1) summed group by 1) w using (project_id)
     where coalesce(u.used, '{0,0,0,0}') <> coalesce(w.used, '{0,0,0,0}')`,
  ),
  invariant(
    "INV-7",
    "a tenant's counted use equals the sum over its projects",
    `
    select format('tenant %s: counted %s, its projects %s', tenant_id, u.used, w.used) as what
      from (select tenant_id, array[cpu, memory_bytes, disk_bytes, instances] as used from tenant_usage) u
      full join (select p.tenant_id, array[sum(u.cpu), sum(u.memory_bytes), sum(u.disk_bytes),
                                           sum(u.instances)]::bigint[] as used
                   from project p join project_usage u on u.project_id = p.id group by 1) w using (tenant_id)
     where coalesce(u.used, '{0,0,0,0}') <> coalesce(w.used, '{0,0,0,0}')`,
  ),
];
