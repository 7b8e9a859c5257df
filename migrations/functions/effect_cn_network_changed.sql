-- Increases the generation of every VPC whose document the node {server_uuid} needs (view vpc_node).
create or replace function effect_cn_network_changed(args jsonb) returns void language sql volatile as $$
  insert into vpc_change (vpc_id) select vpc_id from vpc_node where server_uuid = (args->>'server_uuid')::uuid $$;
