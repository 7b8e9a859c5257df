// Finds why a NAT gateway has no node, for operators (docs/networking.md, "Where NAT gateways run").
import type { HostlessGateway } from "../lib/placement/nat-gateway-host.ts";
import type { Db } from "./pool.ts";

// The query has the conditions of guard_cn_may_host_gateway, in the order in which an operator sets up a node. It
// counts each node once: under the first condition that the node does not meet, or under `none` if it meets all of
// them.
const HOSTLESS = `
  select g.id, g.name, host(g.public_address) as public_address, host(r.destination) || '/' || masklen(r.destination)
           as destination, e.nic_tag,
         (select coalesce(l.hostname, g.leaving_cn_uuid::text) from (select) one
            left join cn l on l.server_uuid = g.leaving_cn_uuid where g.left_at is not null) as leaves,
         (select coalesce(jsonb_object_agg(failed, nodes), '{}') from (
            select failed, count(*) as nodes from (
              select case when cn.state <> 'approved' then 'state'
                          when cn.role is null or cn.role not in ('edge', 'both') then 'role'
                          when t.bridge is null then 'nic_tag'
                          when coalesce(p.cordoned, false) then 'cordoned'
                          when cn.server_uuid = any(nodes_of_other_network(g.id)) then 'network'
                          when s.last_seen is null or s.last_seen < (select berth_now()) - make_interval(secs => $3) then 'seen'
                          else 'none' end as failed
                from cn
                left join cn_signal s using (server_uuid)
                left join cn_placement p using (server_uuid)
                left join cn_nic_tag t on t.server_uuid = cn.server_uuid and t.name = e.nic_tag) judged
             group by failed) counted) as failed
    from subnet
    join route r on r.route_table_id = subnet.route_table_id and r.destination >>= $2::inet
    join nat_gateway g on g.id = r.nat_gateway_id and g.host_cn_uuid is null
                      and g.family = 'v' || family(r.destination)
    left join lateral (
      select nic_tag from external_subnet x
       where x.ipv4_block >>= g.public_address or x.ipv6_block >>= g.public_address limit 1) e on true
   where subnet.id = $1
   order by masklen(r.destination) desc`;

/**
 * Lists the NAT gateways that have no node, and to which the routes of the subnet send packets for the address. The
 * gateway of the most specific route is first.
 */
export async function listHostlessGateways(
  db: Db,
  { subnet_id, address, live_s }: { readonly subnet_id: string; readonly address: string; readonly live_s: number },
): Promise<HostlessGateway[]> {
  return (await db.query<HostlessGateway>(HOSTLESS, [subnet_id, address, live_s])).rows;
}
