-- Returns whether the node {server_uuid} may run the NAT gateway {gateway_id} on the NIC tag {nic_tag}:
-- - The node is approved, has the role edge or both, and is not cordoned.
-- - It reports a bridge for the tag, and was seen in the last {live_s} seconds.
-- - It runs no gateway of the same VPC in another external network. The router of a VPC has only one external network
--   on each node.
-- Processes of earlier releases do not pass {gateway_id}. The caller must hold the VPC's lock exclusively.
create or replace function guard_cn_may_host_gateway(args jsonb) returns boolean language sql volatile as $$
  select exists (
    select from cn
      join cn_signal s using (server_uuid)
      join cn_nic_tag t using (server_uuid)
      left join cn_placement p using (server_uuid)
     where cn.server_uuid = (args->>'server_uuid')::uuid
       and cn.state = 'approved' and cn.role in ('edge', 'both') and not coalesce(p.cordoned, false)
       and t.name = args->>'nic_tag' and t.bridge is not null
       and s.last_seen >= berth_now() - make_interval(secs => (args->>'live_s')::int))
    and not (args->>'server_uuid')::uuid = any(nodes_of_other_network((args->>'gateway_id')::uuid)) $$;
