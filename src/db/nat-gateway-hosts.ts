// Reads the NAT gateways that must leave their node or need one, and the nodes that may run them (docs/networking.md,
// "Where NAT gateways run").
import type { Candidate, Homeless, Part, Unfit } from "../lib/placement/nat-gateway-host.ts";
import { SERVED } from "./network-content.ts";
import type { Db } from "./pool.ts";

// If the gateways of a VPC on one node are in two networks, the node uses the network of the lowest address
// (src/db/network-content.ts). So only the gateways in the other network leave the node. Two networks can occur if the
// node reports another bridge than before, or if a process of an earlier release chose the node.
const UNFIT = `
  select g.id, g.host_cn_uuid as server_uuid
    from nat_gateway g
    left join cn on cn.server_uuid = g.host_cn_uuid
    left join cn_signal s on s.server_uuid = g.host_cn_uuid
    left join cn_placement p on p.server_uuid = g.host_cn_uuid
   where g.host_cn_uuid is not null
     and not coalesce(cn.state = 'approved' and cn.role in ('edge', 'both')
                      and not (coalesce(p.cordoned, false) and p.cordoned_reason is not distinct from 'drain')
                      and s.last_seen >= (select berth_now()) - make_interval(secs => $1)
                      and exists (select from external_subnet e
                                    join cn_nic_tag t on t.server_uuid = g.host_cn_uuid and t.name = e.nic_tag
                                                     and t.bridge is not null
                                   where (e.ipv4_block >>= g.public_address or e.ipv6_block >>= g.public_address)
                                     and case when (select count(*) from nat_gateway o
                                                     where o.vpc_id = g.vpc_id and o.host_cn_uuid = g.host_cn_uuid) = 1
                                     then true else jsonb_build_array(t.bridge, e.vlan_id) = (
                                       select (array_agg(jsonb_build_array(u.bridge, x.vlan_id)
                                                         order by o.public_address))[1]
                                         from nat_gateway o
                                         join external_subnet x on x.ipv4_block >>= o.public_address
                                                                or x.ipv6_block >>= o.public_address
                                         join cn_nic_tag u on u.server_uuid = o.host_cn_uuid and u.name = x.nic_tag
                                                          and u.bridge is not null
                                        where o.vpc_id = g.vpc_id and o.host_cn_uuid = g.host_cn_uuid) end), false)
   order by g.id limit $2`;

/** Lists gateways whose node may no longer run them, for example because it was not seen for `live_s`. */
export async function listUnfit(db: Db, live_s: number, rows_max: number): Promise<Unfit[]> {
  return (await db.query<Unfit>(UNFIT, [live_s, rows_max])).rows;
}

/**
 * SQL that joins the last node of `g` as `n`. `g` is a gateway without a node, or a row of resting_address: the address
 * of a deleted gateway.
 */
export const LAST_NODE = `
         -- The node's record is used only if the node was approved before the gateway left. Without such a record, the
         -- fence counts from the time at which the gateway left.
    left join lateral (select cn.server_uuid, s.last_seen
                         from cn left join cn_signal s using (server_uuid)
                        where cn.server_uuid = g.leaving_cn_uuid and cn.approved_at <= g.left_at) n on true`;

/** SQL of the columns of Homeless that describe the last node. $1 is the time of the fence in seconds. */
export const LAST_NODE_STATE = `
         coalesce(n.last_seen, g.left_at) < (select berth_now()) - make_interval(secs => $1) as is_fenced,
         case when n.server_uuid is null then -1 else (
           select coalesce(r.applied_generation, -1) from vpc_realization r
            where r.vpc_id = g.vpc_id and r.server_uuid = g.leaving_cn_uuid) end as applied_generation`;

const HOMELESS = `
  select g.id, g.left_at, berth_vpc_generation(g.vpc_id) as generation,
         (select e.nic_tag from external_subnet e
           where e.ipv4_block >>= g.public_address or e.ipv6_block >>= g.public_address limit 1) as nic_tag,
         nodes_of_other_network(g.id) as barred,
         ${LAST_NODE_STATE}
    from nat_gateway g ${LAST_NODE}
   where g.host_cn_uuid is null and ($3::uuid is null or g.id > $3) order by g.id limit $2`;

/** Lists gateways without a node. `fence_s` is the silence after which a node certainly runs no gateway. */
export async function listHomeless(db: Db, fence_s: number, { rows_max, after }: Part): Promise<Homeless[]> {
  return (await db.query<Homeless>(HOMELESS, [fence_s, rows_max, after])).rows;
}

// These conditions and `barred` are the conditions of guard_cn_may_host_gateway, which the commit checks for one node.
const CANDIDATES = `
  select t.server_uuid, t.name as nic_tag,
         (select count(*) from nat_gateway g where g.host_cn_uuid = t.server_uuid) as gateways
    from cn_nic_tag t
    join cn using (server_uuid)
    join cn_signal s using (server_uuid)
    left join cn_placement p using (server_uuid)
   where t.bridge is not null and t.name = any($2::text[])
     and cn.state = 'approved' and cn.role in ('edge', 'both') and not coalesce(p.cordoned, false)
     and s.last_seen >= (select berth_now()) - make_interval(secs => $1)
   order by t.name, t.server_uuid`;

/** Lists the nodes that may run gateways on these NIC tags. */
export async function listCandidates(db: Db, live_s: number, nic_tags: readonly string[]): Promise<Candidate[]> {
  return (await db.query<Candidate>(CANDIDATES, [live_s, nic_tags])).rows;
}

const FLOATING = `
  select distinct u.server_uuid
    from nat_gateway g
    join external_subnet e on e.ipv4_block >>= g.public_address or e.ipv6_block >>= g.public_address
    join nic n on n.vpc_id = g.vpc_id
    join instance i on i.id = n.instance_id
    join floating_ip f on f.attached_to = n.id and ${SERVED}
    join external_subnet x on x.ipv4_block >>= f.address or x.ipv6_block >>= f.address
    join cn_nic_tag u on u.server_uuid = i.host_cn_uuid and u.name = x.nic_tag and u.bridge is not null
    join cn_nic_tag t on t.server_uuid = i.host_cn_uuid and t.name = e.nic_tag
   where g.id = $1 and (u.bridge, x.vlan_id) is distinct from (t.bridge, e.vlan_id)`;

/**
 * Lists the nodes that serve floating IPs of the gateway's VPC in another external network. If one of them gets the
 * gateway, nothing answers for these floating IPs any more.
 */
export async function listFloatingNodes(db: Db, gateway_id: string): Promise<string[]> {
  return (await db.query<{ server_uuid: string }>(FLOATING, [gateway_id])).rows.map((row) => row.server_uuid);
}
