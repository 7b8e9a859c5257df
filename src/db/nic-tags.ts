// Stores the NIC tags that a node reports, and the bridge of each tag. External networks of VPCs on the node use the
// bridges.
import type { ReportedNicTag } from "../contract/external-network.ts";
import type { Db } from "./pool.ts";

const STORE = `
  with given as (
    select g.* from jsonb_to_recordset($2::jsonb)
                      g(name text, physical_nic text, vlan_id int, mtu int, bridge text)
     where exists (select from nic_tag t where t.name = g.name)
       and exists (select from cn where server_uuid = $1)
  ), gone as (
    delete from cn_nic_tag t where t.server_uuid = $1 and not exists (select from given g where g.name = t.name)
    returning 1
  ), written as (
    insert into cn_nic_tag as t (server_uuid, name, physical_nic, vlan_id, mtu, bridge)
      select $1, name, physical_nic, vlan_id, mtu, bridge from given
    on conflict (server_uuid, name) do update
      set physical_nic = excluded.physical_nic, vlan_id = excluded.vlan_id, mtu = excluded.mtu, bridge = excluded.bridge
    where (t.physical_nic, t.vlan_id, t.mtu, t.bridge)
          is distinct from (excluded.physical_nic, excluded.vlan_id, excluded.mtu, excluded.bridge)
    returning 1
  ), changed as (
    insert into vpc_change (vpc_id)
      select vpc_id from vpc_node where server_uuid = $1 and exists (select from gone union all select from written)
  )
  select exists (select from gone union all select from written) as changed`;

/**
 * Replaces the tags of a node; an empty list changes nothing. Ignores a tag whose name no operator has created. Returns
 * whether a tag changed. If a tag changed, the VPCs of the node have a new generation.
 */
export async function storeNicTags(db: Db, server_uuid: string, tags: readonly ReportedNicTag[]): Promise<boolean> {
  if (tags.length === 0) return false;
  const { rows } = await db.query<{ changed: boolean }>(STORE, [server_uuid, JSON.stringify(tags)]);
  return rows[0]!.changed;
}
