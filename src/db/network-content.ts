// Reads the networks of VPCs. Each function runs one statement, so its result is from one snapshot.
import type { NetworkContent } from "../lib/net/network-content.ts";
import type { Db } from "./pool.ts";

/**
 * A VPC whose document a node needs or may still store. If `generation` is null, the node no longer needs the document.
 */
export type VpcOfNode = {
  readonly server_uuid: string;
  readonly vpc_id: string;
  readonly generation: number | null;
  /** Whether vpc_realization has a row for this node and VPC. */
  readonly is_offered: boolean;
};

/** A VPC at its current generation. `content` is null if the caller already knows this generation. */
export type CurrentNetwork = {
  readonly vpc_id: string;
  readonly generation: number;
  readonly content: NetworkContent | null;
};

/**
 * SQL condition that is true if the documents of the NIC's node contain the floating IP `f`. See servedNic in
 * actors/floating-ip.
 */
export const SERVED = `(f.operation_id is null or f.operation_kind = 'attach' and f.reclaimed_as is null
                 and (f.prior_cn is null or f.prior_nic_id = f.attached_to))`;

const vpcsOfNodes = (among: string) => `
  select n.server_uuid, n.vpc_id, berth_vpc_generation(n.vpc_id) as generation,
         exists (select from vpc_realization r where r.vpc_id = n.vpc_id and r.server_uuid = n.server_uuid) as is_offered
    from vpc_node n where n.server_uuid = any($1::uuid[]) ${among.replace("<T>", "n")}
  union all
  select r.server_uuid, r.vpc_id, null, true
    from vpc_realization r
   where r.server_uuid = any($1::uuid[]) ${among.replace("<T>", "r")}
     and not exists (select from vpc_node n where n.vpc_id = r.vpc_id and n.server_uuid = r.server_uuid)`;

/** Lists the VPCs of nodes. With `vpc_ids`, lists only these VPCs. */
export async function listVpcsOfNodes(
  db: Db,
  server_uuids: readonly string[],
  vpc_ids?: readonly string[],
): Promise<VpcOfNode[]> {
  const { rows } = vpc_ids === undefined
    ? await db.query<VpcOfNode>(vpcsOfNodes(""), [server_uuids])
    : await db.query<VpcOfNode>(vpcsOfNodes("and <T>.vpc_id = any($2::uuid[])"), [server_uuids, vpc_ids]);
  return rows;
}

/**
 * Lists the VPCs that changed since an earlier call. The parameter `xmin` is from the answer to that call; if it is
 * null, the list is empty. The `xmin` of the answer is the oldest transaction that this call may not have seen.
 */
export async function listChangedVpcs(
  db: Db,
  xmin: string | null,
): Promise<{ readonly xmin: string; readonly changed: readonly string[] }> {
  const { rows } = await db.query<{ xmin: string; changed: string[] }>(
    `select pg_snapshot_xmin(pg_current_snapshot())::text as xmin,
            array(select distinct vpc_id from vpc_change where xid >= $1::xid8)::text[] as changed`,
    [xmin],
  );
  return rows[0]!;
}

const CONTENTS = `
  select v.id as vpc_id, g.generation, case when g.generation is distinct from a.known then jsonb_build_object(
    'vni', v.vni,
    'project', (select name from project where id = v.project_id),
    'blocks', to_jsonb(array_remove(array[v.ipv4_block::text, v.ipv6_block::text], null)),
    'subnets', (
      select coalesce(jsonb_agg(jsonb_build_object(
               'subnet_id', s.id, 'ipv4_block', s.ipv4_block, 'ipv6_block', s.ipv6_block,
               'routes', (select coalesce(jsonb_agg(jsonb_build_object(
                                   'destination', r.destination, 'target_kind', r.target_kind,
                                   'nat_gateway_id', g.id, 'host_cn_uuid', g.host_cn_uuid) order by r.destination), '[]')
                            from route r
                            -- A gateway cannot translate packets of the other family, so the route gets no gateway.
                            left join nat_gateway g on g.id = r.nat_gateway_id
                                                   and g.family = 'v' || family(r.destination)
                           where r.route_table_id = s.route_table_id and r.target_kind <> 'virtual_gateway'))
               order by s.id), '[]')
        from subnet s where s.vpc_id = v.id),
    'nics', (
      select coalesce(jsonb_agg(jsonb_build_object(
               'nic_id', n.id, 'instance_id', n.instance_id, 'hostname', i.name, 'cpu', i.cpu, 'ordinal', n.ordinal,
               'subnet_id', n.subnet_id, 'mac', n.mac, 'ipv4', host(n.primary_ipv4), 'ipv6', host(n.primary_ipv6),
               'blocks', to_jsonb(array(select host(a) || case family(a) when 4 then '/32' else '/128' end
                                          from unnest(n.additional_ips) a) || n.allowed_cidrs::text[]),
               'addresses', to_jsonb(array(select host(a) from unnest(n.additional_ips) a)),
               'host_cn_uuid', i.host_cn_uuid,
               'floating_ips', array(select host(f.address) from floating_ip f
                                      where f.attached_to = n.id and ${SERVED} order by f.address))
               order by n.id), '[]')
        from nic n join instance i on i.id = n.instance_id where n.vpc_id = v.id and i.host_cn_uuid is not null),
    'nat_gateways', (
      select coalesce(jsonb_agg(jsonb_build_object(
               'nat_gateway_id', g.id, 'public_address', host(g.public_address), 'host_cn_uuid', g.host_cn_uuid,
               'port_forwards', (
                 select coalesce(jsonb_agg(jsonb_build_object(
                          'protocol', p.protocol, 'public_port', p.public_port, 'port', p.nic_port,
                          'address', host(case g.family when 'v4' then n.primary_ipv4 else n.primary_ipv6 end))
                          order by p.protocol, p.public_port), '[]')
                   from port_forward p join nic n on n.id = p.nic_id where p.nat_gateway_id = g.id))
               order by g.id), '[]')
        from nat_gateway g where g.vpc_id = v.id and g.host_cn_uuid is not null),
    'firewall_rules', (
      select coalesce(jsonb_agg(jsonb_build_object(
               'rule_id', f.id, 'priority', f.priority, 'direction', f.direction, 'action', f.action,
               'protocol', f.protocol, 'source_cidr', f.source_cidr, 'destination_cidr', f.destination_cidr,
               'source_ports', f.source_ports, 'destination_ports', f.destination_ports,
               'icmp_type_code', f.icmp_type_code)
               order by f.priority desc, f.action desc, f.id), '[]')
        from firewall_rule f where f.vpc_id = v.id),
    'hosts', (
      select coalesce(jsonb_agg(jsonb_build_object(
               'server_uuid', n.server_uuid,
               'underlay_address', host(coalesce(c.underlay_address_set, c.underlay_address, c.admin_ip)),
               'underlay_mtu', coalesce(c.underlay_mtu_set, c.underlay_mtu, $2::int))
               order by n.server_uuid), '[]')
        from vpc_node n join cn c on c.server_uuid = n.server_uuid where n.vpc_id = v.id),
    'externals', (
      select coalesce(jsonb_object_agg(x.server_uuid, x.external), '{}') from (
        select distinct on (o.server_uuid) o.server_uuid, jsonb_build_object(
                 'bridge', o.bridge, 'vlan_id', o.vlan_id, 'mtu', min(o.mtu),
                 'gateway_ipv4', (array_agg(host(o.gateway_ipv4) order by o.rank, o.address)
                                    filter (where o.gateway_ipv4 is not null))[1],
                 'gateway_ipv6', (array_agg(host(o.gateway_ipv6) order by o.rank, o.address)
                                    filter (where o.gateway_ipv6 is not null))[1]) as external
          from (select u.server_uuid, u.address, u.rank, t.bridge, e.vlan_id, g.mtu, e.gateway_ipv4, e.gateway_ipv6
                  from (select host_cn_uuid as server_uuid, public_address as address, 0 as rank
                          from nat_gateway where vpc_id = v.id and host_cn_uuid is not null
                        union all
                        select i.host_cn_uuid, f.address, 1
                          from nic n join instance i on i.id = n.instance_id join floating_ip f on f.attached_to = n.id
                         where n.vpc_id = v.id and i.host_cn_uuid is not null and ${SERVED}) u
                  join external_subnet e on e.ipv4_block >>= u.address or e.ipv6_block >>= u.address
                  join cn_nic_tag t on t.server_uuid = u.server_uuid and t.name = e.nic_tag and t.bridge is not null
                  left join nic_tag g on g.name = e.nic_tag) o
         group by o.server_uuid, o.bridge, o.vlan_id
         order by o.server_uuid, min(o.rank), min(o.address)) x)
    ) end as content
    from unnest($1::uuid[], $3::bigint[]) a(vpc_id, known)
    join vpc v on v.id = a.vpc_id
    cross join lateral (select berth_vpc_generation(v.id) as generation offset 0) g`;

/**
 * Reads VPCs. The result has no entry for a VPC that does not exist. `content` is null if the caller already knows the
 * current generation of the VPC.
 * @param asked the known generation by VPC id; null: no generation is known
 * @param mtu_default the MTU of the underlay of nodes that report none, in bytes
 */
export async function readNetworks(
  db: Db,
  asked: ReadonlyMap<string, number | null>,
  mtu_default: number,
): Promise<CurrentNetwork[]> {
  const { rows } = await db.query<CurrentNetwork>(CONTENTS, [[...asked.keys()], mtu_default, [...asked.values()]]);
  return rows;
}
