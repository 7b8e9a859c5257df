// Stores the counters of firewall rules and NAT gateways: the values in the newest report of each node.
import type { Db } from "./pool.ts";
import type { RuleCount } from "../contract/network-document.ts";

/**
 * Stores the counters that a node reports. Stores only counters of existing rules of VPCs that the node needs
 * (vpc_node), and of NAT gateways that the node runs.
 */
export async function storeRuleCounts(db: Db, server_uuid: string, counts: readonly RuleCount[]): Promise<void> {
  await db.query(
    `with counted as (
       select distinct on (rule_id) * from jsonb_to_recordset($2::jsonb) c(rule_id uuid, packets bigint, bytes bigint)
     ), rules as (
       select f.id from firewall_rule f
        where f.id in (select rule_id from counted)
          and exists (select from vpc_node n where n.vpc_id = f.vpc_id and n.server_uuid = $1)
        order by f.id for key share
     ), gateways as (
       select g.id from nat_gateway g
        where g.id in (select rule_id from counted) and g.host_cn_uuid = $1 order by g.id for key share
     ), stored as (
       insert into nat_gateway_count (nat_gateway_id, server_uuid, connections, counted_at)
       select g.id, $1, c.packets, (select berth_now()) from counted c join gateways g on g.id = c.rule_id
       on conflict (nat_gateway_id, server_uuid)
       do update set connections = excluded.connections, counted_at = excluded.counted_at
     )
     insert into firewall_rule_count (rule_id, server_uuid, packets, bytes, counted_at)
     select c.rule_id, $1, c.packets, c.bytes, (select berth_now()) from counted c join rules r on r.id = c.rule_id
     on conflict (rule_id, server_uuid)
     do update set packets = excluded.packets, bytes = excluded.bytes, counted_at = excluded.counted_at`,
    [server_uuid, JSON.stringify(counts)],
  );
}
