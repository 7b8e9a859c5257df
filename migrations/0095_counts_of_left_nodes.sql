-- Deletes the counters of firewall rules that nodes reported before they left the VPC. In this release, the counters of
-- a node are deleted when it no longer stores the VPC's document. Earlier releases kept the counters and included them
-- in the sums of the rules. This statement reads the nodes of all VPCs once, not once for each counter. The counters of
-- NAT gateways are kept, because a gateway counts the connections on all nodes that ran it.
with part as materialized (
  select vpc_id, server_uuid from vpc_realization union select vpc_id, server_uuid from vpc_node
)
delete from firewall_rule_count c using firewall_rule f
 where f.id = c.rule_id
   and not exists (select from part p where p.vpc_id = f.vpc_id and p.server_uuid = c.server_uuid);
