-- Calls a guard by its name and returns its answer as text.
-- Printed by `deno task schema`: do not edit. See berth_statement.sql.
create or replace function berth_guard(text, jsonb) returns text language plpgsql volatile as $$
declare
  verdict text;
begin
  case $1
  when 'boot_policy_is' then return guard_boot_policy_is($2)::text;
  when 'claims_are_counted' then return guard_claims_are_counted($2)::text;
  when 'cn_has_room' then return guard_cn_has_room($2)::text;
  when 'cn_is_approved' then return guard_cn_is_approved($2)::text;
  when 'cn_is_live' then return guard_cn_is_live($2)::text;
  when 'cn_is_not_draining' then return guard_cn_is_not_draining($2)::text;
  when 'cn_is_not_upgrading' then return guard_cn_is_not_upgrading($2)::text;
  when 'cn_is_silent' then return guard_cn_is_silent($2)::text;
  when 'cn_may_host_gateway' then return guard_cn_may_host_gateway($2)::text;
  when 'cn_offers_nic_tag' then return guard_cn_offers_nic_tag($2)::text;
  when 'cn_sends_fewer' then return guard_cn_sends_fewer($2)::text;
  when 'disk_is_at_rest' then return guard_disk_is_at_rest($2)::text;
  when 'enrollment_pi_is_set' then return guard_enrollment_pi_is_set($2)::text;
  when 'enrollment_pi_is_staged' then return guard_enrollment_pi_is_staged($2)::text;
  when 'enrolment_window_is_open' then return guard_enrolment_window_is_open($2)::text;
  when 'external_network_is_offered' then return guard_external_network_is_offered($2)::text;
  when 'external_subnet_is_apart' then return guard_external_subnet_is_apart($2)::text;
  when 'external_subnet_is_off_nodes' then return guard_external_subnet_is_off_nodes($2)::text;
  when 'external_subnet_is_unused' then return guard_external_subnet_is_unused($2)::text;
  when 'external_subnets_exist' then return guard_external_subnets_exist($2)::text;
  when 'firewall_rules_are' then return guard_firewall_rules_are($2)::text;
  when 'floating_ip_is_off_nodes' then return guard_floating_ip_is_off_nodes($2)::text;
  when 'floating_ip_is_released' then return guard_floating_ip_is_released($2)::text;
  when 'floating_ips_rest' then return guard_floating_ips_rest($2)::text;
  when 'image_exists' then return guard_image_exists($2)::text;
  when 'image_is_unused' then return guard_image_is_unused($2)::text;
  when 'image_upload_fits' then return guard_image_upload_fits($2)::text;
  when 'instance_stays' then return guard_instance_stays($2)::text;
  when 'is_last_claim' then return guard_is_last_claim($2)::text;
  when 'nat_gateway_has_no_forward' then return guard_nat_gateway_has_no_forward($2)::text;
  when 'nat_gateway_has_room' then return guard_nat_gateway_has_room($2)::text;
  when 'nat_gateway_is_unused' then return guard_nat_gateway_is_unused($2)::text;
  when 'nic_blocks_are_apart' then return guard_nic_blocks_are_apart($2)::text;
  when 'nic_is_unused' then return guard_nic_is_unused($2)::text;
  when 'nic_tag_exists' then return guard_nic_tag_exists($2)::text;
  when 'nic_tag_is_unused' then return guard_nic_tag_is_unused($2)::text;
  when 'no_active_cn' then return guard_no_active_cn($2)::text;
  when 'no_instance_on_cn' then return guard_no_instance_on_cn($2)::text;
  when 'no_migration_of_cn' then return guard_no_migration_of_cn($2)::text;
  when 'no_reservation_on_cn' then return guard_no_reservation_on_cn($2)::text;
  when 'node_has_room_for_claim' then return guard_node_has_room_for_claim($2)::text;
  when 'operation_runs' then return guard_operation_runs($2)::text;
  when 'pin_holds' then return guard_pin_holds($2)::text;
  when 'placement_group_allows' then return guard_placement_group_allows($2)::text;
  when 'placement_group_is_empty' then return guard_placement_group_is_empty($2)::text;
  when 'project_has_webhook_room' then return guard_project_has_webhook_room($2)::text;
  when 'project_is_empty' then return guard_project_is_empty($2)::text;
  when 'quota_has_room' then return guard_quota_has_room($2)::text;
  when 'route_table_is_unused' then return guard_route_table_is_unused($2)::text;
  when 'silo_is_empty' then return guard_silo_is_empty($2)::text;
  when 'silo_is_not_named' then return guard_silo_is_not_named($2)::text;
  when 'silos_exist' then return guard_silos_exist($2)::text;
  when 'status_is_last' then return guard_status_is_last($2)::text;
  when 'subnet_block_is_free' then return guard_subnet_block_is_free($2)::text;
  when 'subnet_is_empty' then return guard_subnet_is_empty($2)::text;
  when 'tenant_is_empty' then return guard_tenant_is_empty($2)::text;
  when 'tenant_is_no_default' then return guard_tenant_is_no_default($2)::text;
  when 'tenant_quota_has_room' then return guard_tenant_quota_has_room($2)::text;
  when 'unproven_are_counted' then return guard_unproven_are_counted($2)::text;
  when 'user_owns_no_key' then return guard_user_owns_no_key($2)::text;
  when 'vni_is_free' then return guard_vni_is_free($2)::text;
  when 'vpc_is_empty' then return guard_vpc_is_empty($2)::text;
  when 'webhook_delivery_exists' then return guard_webhook_delivery_exists($2)::text;
  else
    execute format('select %I($1)::text', 'guard_' || $1) into verdict using $2;
    return verdict;
  end case;
end $$;
