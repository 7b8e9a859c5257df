-- Inserts rows into a table.
-- Each table below has its own statement, which PostgreSQL plans once per connection.
-- Any other table uses berth_statement.
-- - $1: the entries, each with the columns of one row
-- - $2: the index of the chosen alternative of each unit; only the entries of this alternative are written
-- - $3: the columns that the entries give
-- - $4 to $6: the table, its key columns and the type of the key columns
-- Printed by `deno task schema`: do not edit. See berth_statement.sql.
create or replace function berth_insert(jsonb, int[], text[], text, text[], text) returns void
language plpgsql volatile as $$
begin
  case $4
  when 'api_key' then
    insert into api_key (id, incarnation, version, wake_at, state, lookup, secret_sha256, user_id, description,
        scope, bound_to_cn, created_at, expires_at, tenant_id)
    select r.id, r.incarnation, r.version, r.wake_at, r.state, r.lookup, r.secret_sha256, r.user_id, r.description,
        r.scope, r.bound_to_cn, r.created_at, r.expires_at, r.tenant_id
      from jsonb_array_elements($1) e cross join jsonb_populate_record(null::api_key, e) r
     where $2[(e->>'$u')::int + 1] = (e->>'$c')::int;
  when 'boot_policy' then
    insert into boot_policy (id, incarnation, version, wake_at, state, auto_enroll, allowlist, enrollment_pi,
        enrollment_kernel_args, admin_network, updated_at, rack_networks, label_arguments)
    select r.id, r.incarnation, r.version, r.wake_at, r.state, r.auto_enroll, r.allowlist, r.enrollment_pi,
        r.enrollment_kernel_args, r.admin_network, r.updated_at,
        case when e ? 'rack_networks' then r.rack_networks else '[]'::jsonb end,
        case when e ? 'label_arguments' then r.label_arguments else '[]'::jsonb end
      from jsonb_array_elements($1) e cross join jsonb_populate_record(null::boot_policy, e) r
     where $2[(e->>'$u')::int + 1] = (e->>'$c')::int;
  when 'boot_record' then
    insert into boot_record (mac, incarnation, version, wake_at, state, address, networking, provenance,
        server_uuid, assigned_pi, rescue, hostname, created_at, updated_at, kernel_args, console)
    select r.mac, r.incarnation, r.version, r.wake_at, r.state, r.address, r.networking, r.provenance,
        r.server_uuid, r.assigned_pi, r.rescue, r.hostname, r.created_at, r.updated_at,
        case when e ? 'kernel_args' then r.kernel_args else '[]'::jsonb end, r.console
      from jsonb_array_elements($1) e cross join jsonb_populate_record(null::boot_record, e) r
     where $2[(e->>'$u')::int + 1] = (e->>'$c')::int;
  when 'boot_roster' then
    insert into boot_roster (id, incarnation, version, wake_at, state, entries, updated_at)
    select r.id, r.incarnation, r.version, r.wake_at, r.state, r.entries, r.updated_at
      from jsonb_array_elements($1) e cross join jsonb_populate_record(null::boot_roster, e) r
     where $2[(e->>'$u')::int + 1] = (e->>'$c')::int;
  when 'cn' then
    insert into cn (server_uuid, incarnation, version, wake_at, state, hostname, role, admin_ip, sysinfo,
        console_listen_port, console_tls_spki_sha256_hex, registered_at, approved_at, claim_code,
        claim_code_expires_at, registration_id, poll_token_sha256, bound_api_key_id, pending_credential,
        ticket_keys, last_setup_error, setup_progress, disk_layout, macs, conflict, setup_epoch,
        setup_operation_id, bundle_taken, root_password_hash, unproven, announced_sysinfo, announced_macs, serial,
        underlay_address, underlay_mtu, underlay_address_set, underlay_mtu_set, setup_delivery)
    select r.server_uuid, r.incarnation, r.version, r.wake_at, r.state, r.hostname, r.role, r.admin_ip, r.sysinfo,
        r.console_listen_port, r.console_tls_spki_sha256_hex, r.registered_at, r.approved_at, r.claim_code,
        r.claim_code_expires_at, r.registration_id, r.poll_token_sha256, r.bound_api_key_id, r.pending_credential,
        r.ticket_keys, r.last_setup_error, r.setup_progress, r.disk_layout,
        case when e ? 'macs' then r.macs else '{}'::text[] end, r.conflict, r.setup_epoch, r.setup_operation_id,
        case when e ? 'bundle_taken' then r.bundle_taken else false end, r.root_password_hash,
        case when e ? 'unproven' then r.unproven else false end, r.announced_sysinfo,
        case when e ? 'announced_macs' then r.announced_macs else '{}'::text[] end, r.serial, r.underlay_address,
        r.underlay_mtu, r.underlay_address_set, r.underlay_mtu_set, r.setup_delivery
      from jsonb_array_elements($1) e cross join jsonb_populate_record(null::cn, e) r
     where $2[(e->>'$u')::int + 1] = (e->>'$c')::int;
  when 'console_session' then
    insert into console_session (id, incarnation, version, wake_at, state, instance_id, cn, mode, take_over,
        history_bytes, user_id, username, key_id, login_id, credential_expires_at, is_root, ticket_sha256,
        relay_url, created_at, expires_at)
    select r.id, r.incarnation, r.version, r.wake_at, r.state, r.instance_id, r.cn, r.mode, r.take_over,
        r.history_bytes, r.user_id, r.username, r.key_id, r.login_id, r.credential_expires_at, r.is_root,
        r.ticket_sha256, r.relay_url, r.created_at, r.expires_at
      from jsonb_array_elements($1) e cross join jsonb_populate_record(null::console_session, e) r
     where $2[(e->>'$u')::int + 1] = (e->>'$c')::int;
  when 'enrolment_claim' then
    insert into enrolment_claim (id, incarnation, version, wake_at, state, server_uuid, claim_code, expires_at,
        registration_id, poll_token_sha256, hostname, admin_ip, sysinfo, macs, serial, console_listen_port,
        console_tls_spki_sha256_hex, source, source_bucket, created_at, underlay_address, underlay_mtu)
    select r.id, r.incarnation, r.version, r.wake_at, r.state, r.server_uuid, r.claim_code, r.expires_at,
        r.registration_id, r.poll_token_sha256, r.hostname, r.admin_ip, r.sysinfo, r.macs, r.serial,
        r.console_listen_port, r.console_tls_spki_sha256_hex, r.source, r.source_bucket, r.created_at,
        r.underlay_address, r.underlay_mtu
      from jsonb_array_elements($1) e cross join jsonb_populate_record(null::enrolment_claim, e) r
     where $2[(e->>'$u')::int + 1] = (e->>'$c')::int;
  when 'external_subnet' then
    insert into external_subnet (id, incarnation, version, wake_at, state, name, description, nic_tag, vlan_id,
        ipv4_block, ipv6_block, provision_start_ipv4, provision_end_ipv4, provision_start_ipv6, provision_end_ipv6,
        owner_silos, created_at, gateway_ipv4, gateway_ipv6)
    select r.id, r.incarnation, r.version, r.wake_at, r.state, r.name, r.description, r.nic_tag, r.vlan_id,
        r.ipv4_block, r.ipv6_block, r.provision_start_ipv4, r.provision_end_ipv4, r.provision_start_ipv6,
        r.provision_end_ipv6, r.owner_silos, r.created_at, r.gateway_ipv4, r.gateway_ipv6
      from jsonb_array_elements($1) e cross join jsonb_populate_record(null::external_subnet, e) r
     where $2[(e->>'$u')::int + 1] = (e->>'$c')::int;
  when 'firewall_rule' then
    insert into firewall_rule (id, incarnation, version, wake_at, state, tenant_id, project_id, vpc_id, name,
        description, priority, direction, action, protocol, source_cidr, destination_cidr, source_ports,
        destination_ports, icmp_type_code, created_at, labels)
    select r.id, r.incarnation, r.version, r.wake_at, r.state, r.tenant_id, r.project_id, r.vpc_id, r.name,
        r.description, r.priority, r.direction, r.action, r.protocol, r.source_cidr, r.destination_cidr,
        r.source_ports, r.destination_ports, r.icmp_type_code, r.created_at,
        case when e ? 'labels' then r.labels else '{}'::jsonb end
      from jsonb_array_elements($1) e cross join jsonb_populate_record(null::firewall_rule, e) r
     where $2[(e->>'$u')::int + 1] = (e->>'$c')::int;
  when 'floating_ip' then
    insert into floating_ip (id, incarnation, version, wake_at, state, tenant_id, project_id, name, description,
        address, family, pool_id, network_id, external_nic_tag, attached_to, attached_instance_id, hosted_cn,
        created_at, updated_at, generation, operation_id, operation_kind, prior_nic_id, prior_instance_id,
        prior_cn, reclaimed_as, labels)
    select r.id, r.incarnation, r.version, r.wake_at, r.state, r.tenant_id, r.project_id, r.name, r.description,
        r.address, r.family, r.pool_id, r.network_id, r.external_nic_tag, r.attached_to, r.attached_instance_id,
        r.hosted_cn, r.created_at, r.updated_at, case when e ? 'generation' then r.generation else 0 end,
        r.operation_id, r.operation_kind, r.prior_nic_id, r.prior_instance_id, r.prior_cn, r.reclaimed_as,
        case when e ? 'labels' then r.labels else '{}'::jsonb end
      from jsonb_array_elements($1) e cross join jsonb_populate_record(null::floating_ip, e) r
     where $2[(e->>'$u')::int + 1] = (e->>'$c')::int;
  when 'tenant_idp' then
    insert into tenant_idp (tenant_id, incarnation, version, wake_at, state, issuer_url, client_id, client_secret,
        audience, created_at)
    select r.tenant_id, r.incarnation, r.version, r.wake_at, r.state, r.issuer_url, r.client_id, r.client_secret,
        r.audience, r.created_at
      from jsonb_array_elements($1) e cross join jsonb_populate_record(null::tenant_idp, e) r
     where $2[(e->>'$u')::int + 1] = (e->>'$c')::int;
  when 'image' then
    insert into image (id, incarnation, version, wake_at, state, scope_kind, silo_id, tenant_id, project_id, name,
        description, os, os_version, size_bytes, sha256, source_url, compatibility, created_at, content_bytes,
        labels)
    select r.id, r.incarnation, r.version, r.wake_at, r.state, r.scope_kind, r.silo_id, r.tenant_id, r.project_id,
        r.name, r.description, r.os, r.os_version, r.size_bytes, r.sha256, r.source_url, r.compatibility,
        r.created_at, r.content_bytes, case when e ? 'labels' then r.labels else '{}'::jsonb end
      from jsonb_array_elements($1) e cross join jsonb_populate_record(null::image, e) r
     where $2[(e->>'$u')::int + 1] = (e->>'$c')::int;
  when 'image_upload' then
    insert into image_upload (id, incarnation, version, wake_at, state, tenant_id, project_id, name, description,
        os, os_version, compatibility, content_bytes, size_bytes, received_bytes, created_at, expires_at, labels,
        operation_id, sha256)
    select r.id, r.incarnation, r.version, r.wake_at, r.state, r.tenant_id, r.project_id, r.name, r.description,
        r.os, r.os_version, r.compatibility, r.content_bytes, r.size_bytes, r.received_bytes, r.created_at,
        r.expires_at, case when e ? 'labels' then r.labels else '{}'::jsonb end, r.operation_id, r.sha256
      from jsonb_array_elements($1) e cross join jsonb_populate_record(null::image_upload, e) r
     where $2[(e->>'$u')::int + 1] = (e->>'$c')::int;
  when 'instance' then
    insert into instance (id, incarnation, version, wake_at, state, host_cn_uuid, image_id, tenant_id, project_id,
        name, description, brand, cpu, memory_bytes, primary_subnet_id, ssh_key_ids, reason, operation_id,
        operation_kind, job_begun, unwinding_as, floating_ip_ids, reported_at, missed_reports, created_at,
        updated_at, labels, deletion_protection, placement_group_id)
    select r.id, r.incarnation, r.version, r.wake_at, r.state, r.host_cn_uuid, r.image_id, r.tenant_id,
        r.project_id, r.name, r.description, r.brand, r.cpu, r.memory_bytes, r.primary_subnet_id, r.ssh_key_ids,
        r.reason, r.operation_id, r.operation_kind, case when e ? 'job_begun' then r.job_begun else false end,
        r.unwinding_as, case when e ? 'floating_ip_ids' then r.floating_ip_ids else '{}'::uuid[] end,
        r.reported_at, case when e ? 'missed_reports' then r.missed_reports else 0 end, r.created_at, r.updated_at,
        case when e ? 'labels' then r.labels else '{}'::jsonb end,
        case when e ? 'deletion_protection' then r.deletion_protection else false end, r.placement_group_id
      from jsonb_array_elements($1) e cross join jsonb_populate_record(null::instance, e) r
     where $2[(e->>'$u')::int + 1] = (e->>'$c')::int;
  when 'job' then
    insert into job (id, incarnation, version, wake_at, state, seq, kind, target_cn, payload, saga_id, created_at,
        claimed_by, claimed_at, lease_until, result, reason, tombstone, completed_at, burial_told_as, lease_s)
    select r.id, r.incarnation, r.version, r.wake_at, r.state, r.seq, r.kind, r.target_cn, r.payload, r.saga_id,
        r.created_at, r.claimed_by, r.claimed_at, r.lease_until, r.result, r.reason, r.tombstone, r.completed_at,
        r.burial_told_as, r.lease_s
      from jsonb_array_elements($1) e cross join jsonb_populate_record(null::job, e) r
     where $2[(e->>'$u')::int + 1] = (e->>'$c')::int;
  when 'nat_gateway' then
    insert into nat_gateway (id, incarnation, version, wake_at, state, tenant_id, project_id, vpc_id, name,
        description, family, public_address, desired_generation, created_at, updated_at, host_cn_uuid,
        leaving_cn_uuid, left_at, labels, network_id, external_nic_tag, pool_id)
    select r.id, r.incarnation, r.version, r.wake_at, r.state, r.tenant_id, r.project_id, r.vpc_id, r.name,
        r.description, r.family, r.public_address, r.desired_generation, r.created_at, r.updated_at,
        r.host_cn_uuid, r.leaving_cn_uuid, r.left_at, case when e ? 'labels' then r.labels else '{}'::jsonb end,
        r.network_id, r.external_nic_tag, r.pool_id
      from jsonb_array_elements($1) e cross join jsonb_populate_record(null::nat_gateway, e) r
     where $2[(e->>'$u')::int + 1] = (e->>'$c')::int;
  when 'network_pool' then
    insert into network_pool (id, incarnation, version, wake_at, state, name, description, networks, owner_silos,
        created_at)
    select r.id, r.incarnation, r.version, r.wake_at, r.state, r.name, r.description, r.networks, r.owner_silos,
        r.created_at
      from jsonb_array_elements($1) e cross join jsonb_populate_record(null::network_pool, e) r
     where $2[(e->>'$u')::int + 1] = (e->>'$c')::int;
  when 'nic_tag' then
    insert into nic_tag (id, incarnation, version, wake_at, state, name, description, mtu, created_at)
    select r.id, r.incarnation, r.version, r.wake_at, r.state, r.name, r.description, r.mtu, r.created_at
      from jsonb_array_elements($1) e cross join jsonb_populate_record(null::nic_tag, e) r
     where $2[(e->>'$u')::int + 1] = (e->>'$c')::int;
  when 'placement_group' then
    insert into placement_group (id, incarnation, version, wake_at, state, tenant_id, project_id, name,
        description, labels, policy, level, strictness, created_at)
    select r.id, r.incarnation, r.version, r.wake_at, r.state, r.tenant_id, r.project_id, r.name, r.description,
        case when e ? 'labels' then r.labels else '{}'::jsonb end, r.policy, r.level, r.strictness, r.created_at
      from jsonb_array_elements($1) e cross join jsonb_populate_record(null::placement_group, e) r
     where $2[(e->>'$u')::int + 1] = (e->>'$c')::int;
  when 'port_forward' then
    insert into port_forward (id, incarnation, version, wake_at, state, tenant_id, project_id, vpc_id,
        nat_gateway_id, nic_id, name, description, protocol, public_port, nic_port, created_at, labels)
    select r.id, r.incarnation, r.version, r.wake_at, r.state, r.tenant_id, r.project_id, r.vpc_id,
        r.nat_gateway_id, r.nic_id, r.name, r.description, r.protocol, r.public_port, r.nic_port, r.created_at,
        case when e ? 'labels' then r.labels else '{}'::jsonb end
      from jsonb_array_elements($1) e cross join jsonb_populate_record(null::port_forward, e) r
     where $2[(e->>'$u')::int + 1] = (e->>'$c')::int;
  when 'project' then
    insert into project (id, incarnation, version, wake_at, state, tenant_id, name, description, created_at, labels)
    select r.id, r.incarnation, r.version, r.wake_at, r.state, r.tenant_id, r.name, r.description, r.created_at,
        case when e ? 'labels' then r.labels else '{}'::jsonb end
      from jsonb_array_elements($1) e cross join jsonb_populate_record(null::project, e) r
     where $2[(e->>'$u')::int + 1] = (e->>'$c')::int;
  when 'quota' then
    insert into quota (project_id, incarnation, version, wake_at, state, tenant_id, cpu_limit, memory_bytes,
        disk_bytes, instance_limit, updated_at)
    select r.project_id, r.incarnation, r.version, r.wake_at, r.state, r.tenant_id, r.cpu_limit, r.memory_bytes,
        r.disk_bytes, r.instance_limit, r.updated_at
      from jsonb_array_elements($1) e cross join jsonb_populate_record(null::quota, e) r
     where $2[(e->>'$u')::int + 1] = (e->>'$c')::int;
  when 'route' then
    insert into route (id, incarnation, version, wake_at, state, tenant_id, project_id, vpc_id, route_table_id,
        name, description, destination, target_kind, nat_gateway_id, created_at, labels)
    select r.id, r.incarnation, r.version, r.wake_at, r.state, r.tenant_id, r.project_id, r.vpc_id,
        r.route_table_id, r.name, r.description, r.destination, r.target_kind, r.nat_gateway_id, r.created_at,
        case when e ? 'labels' then r.labels else '{}'::jsonb end
      from jsonb_array_elements($1) e cross join jsonb_populate_record(null::route, e) r
     where $2[(e->>'$u')::int + 1] = (e->>'$c')::int;
  when 'route_table' then
    insert into route_table (id, incarnation, version, wake_at, state, tenant_id, project_id, vpc_id, name,
        description, is_main, created_at, labels)
    select r.id, r.incarnation, r.version, r.wake_at, r.state, r.tenant_id, r.project_id, r.vpc_id, r.name,
        r.description, r.is_main, r.created_at, case when e ? 'labels' then r.labels else '{}'::jsonb end
      from jsonb_array_elements($1) e cross join jsonb_populate_record(null::route_table, e) r
     where $2[(e->>'$u')::int + 1] = (e->>'$c')::int;
  when 'saga' then
    insert into saga (id, incarnation, version, wake_at, state, saga, params, refs, outputs, steps, early, error,
        created_at, step, job_id, attempts, due_at, done_at, stuck_reason)
    select r.id, r.incarnation, r.version, r.wake_at, r.state, r.saga, r.params, r.refs, r.outputs, r.steps,
        r.early, r.error, r.created_at, r.step, r.job_id, r.attempts, r.due_at, r.done_at, r.stuck_reason
      from jsonb_array_elements($1) e cross join jsonb_populate_record(null::saga, e) r
     where $2[(e->>'$u')::int + 1] = (e->>'$c')::int;
  when 'session' then
    insert into session (id, incarnation, version, wake_at, state, user_id, user_epoch, generation, created_at,
        refreshed_at, expires_at, kind, api_key_id, granted_root, granted_scope)
    select r.id, r.incarnation, r.version, r.wake_at, r.state, r.user_id, r.user_epoch, r.generation, r.created_at,
        r.refreshed_at, r.expires_at, case when e ? 'kind' then r.kind else 'token'::text end, r.api_key_id,
        case when e ? 'granted_root' then r.granted_root else false end, r.granted_scope
      from jsonb_array_elements($1) e cross join jsonb_populate_record(null::session, e) r
     where $2[(e->>'$u')::int + 1] = (e->>'$c')::int;
  when 'setting' then
    insert into setting (key, incarnation, version, wake_at, state, value, updated_at)
    select r.key, r.incarnation, r.version, r.wake_at, r.state, r.value, r.updated_at
      from jsonb_array_elements($1) e cross join jsonb_populate_record(null::setting, e) r
     where $2[(e->>'$u')::int + 1] = (e->>'$c')::int;
  when 'silo' then
    insert into silo (id, incarnation, version, wake_at, state, name, description, default_tenant_id, created_at)
    select r.id, r.incarnation, r.version, r.wake_at, r.state, r.name, r.description, r.default_tenant_id,
        r.created_at
      from jsonb_array_elements($1) e cross join jsonb_populate_record(null::silo, e) r
     where $2[(e->>'$u')::int + 1] = (e->>'$c')::int;
  when 'site' then
    insert into site (id, incarnation, version, wake_at, state, window_opened_at, window_expires_at, window_count,
        window_opened_by)
    select r.id, r.incarnation, r.version, r.wake_at, r.state, r.window_opened_at, r.window_expires_at,
        r.window_count, r.window_opened_by
      from jsonb_array_elements($1) e cross join jsonb_populate_record(null::site, e) r
     where $2[(e->>'$u')::int + 1] = (e->>'$c')::int;
  when 'ssh_key' then
    insert into ssh_key (id, incarnation, version, wake_at, state, scope_kind, silo_id, tenant_id, project_id,
        user_id, name, description, public_key, fingerprint, created_at, labels)
    select r.id, r.incarnation, r.version, r.wake_at, r.state, r.scope_kind, r.silo_id, r.tenant_id, r.project_id,
        r.user_id, r.name, r.description, r.public_key, r.fingerprint, r.created_at,
        case when e ? 'labels' then r.labels else '{}'::jsonb end
      from jsonb_array_elements($1) e cross join jsonb_populate_record(null::ssh_key, e) r
     where $2[(e->>'$u')::int + 1] = (e->>'$c')::int;
  when 'staging' then
    insert into staging (staged_by, incarnation, version, wake_at, state, stamps, staged_at, kinds)
    select r.staged_by, r.incarnation, r.version, r.wake_at, r.state, r.stamps, r.staged_at,
        case when e ? 'kinds' then r.kinds else '{}'::jsonb end
      from jsonb_array_elements($1) e cross join jsonb_populate_record(null::staging, e) r
     where $2[(e->>'$u')::int + 1] = (e->>'$c')::int;
  when 'subnet' then
    insert into subnet (id, incarnation, version, wake_at, state, tenant_id, project_id, vpc_id, route_table_id,
        name, description, ipv4_block, ipv6_block, vpc_ipv4_block, vpc_ipv6_block, created_at, labels)
    select r.id, r.incarnation, r.version, r.wake_at, r.state, r.tenant_id, r.project_id, r.vpc_id,
        r.route_table_id, r.name, r.description, r.ipv4_block, r.ipv6_block, r.vpc_ipv4_block, r.vpc_ipv6_block,
        r.created_at, case when e ? 'labels' then r.labels else '{}'::jsonb end
      from jsonb_array_elements($1) e cross join jsonb_populate_record(null::subnet, e) r
     where $2[(e->>'$u')::int + 1] = (e->>'$c')::int;
  when 'tenant' then
    insert into tenant (id, incarnation, version, wake_at, state, silo_id, name, description, created_at)
    select r.id, r.incarnation, r.version, r.wake_at, r.state, r.silo_id, r.name, r.description, r.created_at
      from jsonb_array_elements($1) e cross join jsonb_populate_record(null::tenant, e) r
     where $2[(e->>'$u')::int + 1] = (e->>'$c')::int;
  when 'tenant_quota' then
    insert into tenant_quota (tenant_id, incarnation, version, wake_at, state, cpu_limit, memory_bytes, disk_bytes,
        instance_limit, updated_at)
    select r.tenant_id, r.incarnation, r.version, r.wake_at, r.state, r.cpu_limit, r.memory_bytes, r.disk_bytes,
        r.instance_limit, r.updated_at
      from jsonb_array_elements($1) e cross join jsonb_populate_record(null::tenant_quota, e) r
     where $2[(e->>'$u')::int + 1] = (e->>'$c')::int;
  when 'user_account' then
    insert into user_account (id, username, is_root, created_at, incarnation, version, wake_at, state, tenant_id,
        password_hash, capabilities, issuer, subject, session_epoch)
    select r.id, r.username, case when e ? 'is_root' then r.is_root else false end,
        case when e ? 'created_at' then r.created_at else berth_now() end,
        case when e ? 'incarnation' then r.incarnation else gen_random_uuid() end,
        case when e ? 'version' then r.version else 1 end, r.wake_at,
        case when e ? 'state' then r.state else 'live'::text end, r.tenant_id, r.password_hash,
        case when e ? 'capabilities' then r.capabilities else '{}'::text[] end, r.issuer, r.subject,
        case when e ? 'session_epoch' then r.session_epoch else 0 end
      from jsonb_array_elements($1) e cross join jsonb_populate_record(null::user_account, e) r
     where $2[(e->>'$u')::int + 1] = (e->>'$c')::int;
  when 'vpc' then
    insert into vpc (id, incarnation, version, wake_at, state, tenant_id, project_id, main_route_table_id, name,
        description, vni, ipv4_block, ipv6_block, created_at, labels)
    select r.id, r.incarnation, r.version, r.wake_at, r.state, r.tenant_id, r.project_id, r.main_route_table_id,
        r.name, r.description, r.vni, r.ipv4_block, r.ipv6_block, r.created_at,
        case when e ? 'labels' then r.labels else '{}'::jsonb end
      from jsonb_array_elements($1) e cross join jsonb_populate_record(null::vpc, e) r
     where $2[(e->>'$u')::int + 1] = (e->>'$c')::int;
  when 'webhook' then
    insert into webhook (id, incarnation, version, wake_at, state, tenant_id, project_id, name, description,
        labels, url, events, enabled, sealed_secret, created_at, enabled_at, disabled_at)
    select r.id, r.incarnation, r.version, r.wake_at, r.state, r.tenant_id, r.project_id, r.name, r.description,
        case when e ? 'labels' then r.labels else '{}'::jsonb end, r.url, r.events, r.enabled, r.sealed_secret,
        r.created_at, r.enabled_at, r.disabled_at
      from jsonb_array_elements($1) e cross join jsonb_populate_record(null::webhook, e) r
     where $2[(e->>'$u')::int + 1] = (e->>'$c')::int;
  when 'disk' then
    insert into disk (id, tenant_id, project_id, instance_id, name, description, kind, size_bytes, applied_bytes,
        source_image_id, created_at, resize_operation_id, attached, source_disk_id, consistency, labels)
    select r.id, r.tenant_id, r.project_id, r.instance_id, r.name, r.description, r.kind, r.size_bytes,
        r.applied_bytes, r.source_image_id, r.created_at, r.resize_operation_id,
        case when e ? 'attached' then r.attached else true end, r.source_disk_id, r.consistency,
        case when e ? 'labels' then r.labels else '{}'::jsonb end
      from jsonb_array_elements($1) e cross join jsonb_populate_record(null::disk, e) r
     where $2[(e->>'$u')::int + 1] = (e->>'$c')::int;
  when 'nic' then
    insert into nic (id, tenant_id, project_id, instance_id, vpc_id, subnet_id, ordinal, name, mac, primary_ipv4,
        primary_ipv6, created_at, additional_ips, allowed_cidrs, labels)
    select r.id, r.tenant_id, r.project_id, r.instance_id, r.vpc_id, r.subnet_id, r.ordinal, r.name, r.mac,
        r.primary_ipv4, r.primary_ipv6, r.created_at,
        case when e ? 'additional_ips' then r.additional_ips else '{}'::inet[] end,
        case when e ? 'allowed_cidrs' then r.allowed_cidrs else '{}'::cidr[] end,
        case when e ? 'labels' then r.labels else '{}'::jsonb end
      from jsonb_array_elements($1) e cross join jsonb_populate_record(null::nic, e) r
     where $2[(e->>'$u')::int + 1] = (e->>'$c')::int;
  when 'sealed_user_data' then
    insert into sealed_user_data (instance_id, plain, sealed)
    select r.instance_id, r.plain, r.sealed
      from jsonb_array_elements($1) e cross join jsonb_populate_record(null::sealed_user_data, e) r
     where $2[(e->>'$u')::int + 1] = (e->>'$c')::int;
  when 'vpc_change' then
    insert into vpc_change (vpc_id, xid, at)
    select r.vpc_id, case when e ? 'xid' then r.xid else pg_current_xact_id() end,
        case when e ? 'at' then r.at else clock_timestamp() end
      from jsonb_array_elements($1) e cross join jsonb_populate_record(null::vpc_change, e) r
     where $2[(e->>'$u')::int + 1] = (e->>'$c')::int;
  else
    execute berth_statement('insert', $4, $5, $6) using $1, $2, $3;
  end case;
end $$;
