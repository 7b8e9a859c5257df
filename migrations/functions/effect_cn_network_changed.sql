-- Counts a change of every VPC of which the node {server_uuid} has a part.
create or replace function effect_cn_network_changed(args jsonb) returns void language sql volatile as $$
  insert into vpc_change (vpc_id) select vpc_id from vpc_node where server_uuid = (args->>'server_uuid')::uuid $$;
