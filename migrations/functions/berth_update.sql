-- Updates rows of actors.
-- Each table below has its own statement, which PostgreSQL plans once per connection.
-- Any other table uses berth_statement.
-- - $1: the entries, each with the columns of one row
-- - $2: the index of the chosen alternative of each unit; only the entries of this alternative are written
-- - $3: the columns that the entries give
-- - $4 to $6: the table, its key columns and the type of the key columns
-- Printed by `deno task schema`: do not edit. See berth_statement.sql.
create or replace function berth_update(jsonb, int[], text[], text, text[], text) returns void
language plpgsql volatile as $$
begin
  case $4
  when 'api_key' then
    update api_key t set incarnation = case when e ? 'incarnation' then r.incarnation else t.incarnation end,
        version = case when e ? 'version' then r.version else t.version end,
        wake_at = case when e ? 'wake_at' then r.wake_at else t.wake_at end,
        state = case when e ? 'state' then r.state else t.state end,
        lookup = case when e ? 'lookup' then r.lookup else t.lookup end,
        secret_sha256 = case when e ? 'secret_sha256' then r.secret_sha256 else t.secret_sha256 end,
        user_id = case when e ? 'user_id' then r.user_id else t.user_id end,
        description = case when e ? 'description' then r.description else t.description end,
        scope = case when e ? 'scope' then r.scope else t.scope end,
        bound_to_cn = case when e ? 'bound_to_cn' then r.bound_to_cn else t.bound_to_cn end,
        created_at = case when e ? 'created_at' then r.created_at else t.created_at end,
        expires_at = case when e ? 'expires_at' then r.expires_at else t.expires_at end,
        tenant_id = case when e ? 'tenant_id' then r.tenant_id else t.tenant_id end
      from jsonb_array_elements($1) e cross join jsonb_populate_record(null::api_key, e) r
     where $2[(e->>'$u')::int + 1] = (e->>'$c')::int and t.id = (e->>'$id')::uuid;
  when 'boot_policy' then
    update boot_policy t set incarnation = case when e ? 'incarnation' then r.incarnation else t.incarnation end,
        version = case when e ? 'version' then r.version else t.version end,
        wake_at = case when e ? 'wake_at' then r.wake_at else t.wake_at end,
        state = case when e ? 'state' then r.state else t.state end,
        auto_enroll = case when e ? 'auto_enroll' then r.auto_enroll else t.auto_enroll end,
        allowlist = case when e ? 'allowlist' then r.allowlist else t.allowlist end,
        enrollment_pi = case when e ? 'enrollment_pi' then r.enrollment_pi else t.enrollment_pi end,
        enrollment_kernel_args = case when e ? 'enrollment_kernel_args' then r.enrollment_kernel_args else t.enrollment_kernel_args end,
        admin_network = case when e ? 'admin_network' then r.admin_network else t.admin_network end,
        updated_at = case when e ? 'updated_at' then r.updated_at else t.updated_at end,
        rack_networks = case when e ? 'rack_networks' then r.rack_networks else t.rack_networks end,
        label_arguments = case when e ? 'label_arguments' then r.label_arguments else t.label_arguments end
      from jsonb_array_elements($1) e cross join jsonb_populate_record(null::boot_policy, e) r
     where $2[(e->>'$u')::int + 1] = (e->>'$c')::int and t.id = (e->>'$id')::text;
  when 'boot_record' then
    update boot_record t set incarnation = case when e ? 'incarnation' then r.incarnation else t.incarnation end,
        version = case when e ? 'version' then r.version else t.version end,
        wake_at = case when e ? 'wake_at' then r.wake_at else t.wake_at end,
        state = case when e ? 'state' then r.state else t.state end,
        address = case when e ? 'address' then r.address else t.address end,
        networking = case when e ? 'networking' then r.networking else t.networking end,
        provenance = case when e ? 'provenance' then r.provenance else t.provenance end,
        server_uuid = case when e ? 'server_uuid' then r.server_uuid else t.server_uuid end,
        assigned_pi = case when e ? 'assigned_pi' then r.assigned_pi else t.assigned_pi end,
        rescue = case when e ? 'rescue' then r.rescue else t.rescue end,
        hostname = case when e ? 'hostname' then r.hostname else t.hostname end,
        created_at = case when e ? 'created_at' then r.created_at else t.created_at end,
        updated_at = case when e ? 'updated_at' then r.updated_at else t.updated_at end,
        kernel_args = case when e ? 'kernel_args' then r.kernel_args else t.kernel_args end,
        console = case when e ? 'console' then r.console else t.console end
      from jsonb_array_elements($1) e cross join jsonb_populate_record(null::boot_record, e) r
     where $2[(e->>'$u')::int + 1] = (e->>'$c')::int and t.mac = (e->>'$id')::text;
  when 'boot_roster' then
    update boot_roster t set incarnation = case when e ? 'incarnation' then r.incarnation else t.incarnation end,
        version = case when e ? 'version' then r.version else t.version end,
        wake_at = case when e ? 'wake_at' then r.wake_at else t.wake_at end,
        state = case when e ? 'state' then r.state else t.state end,
        entries = case when e ? 'entries' then r.entries else t.entries end,
        updated_at = case when e ? 'updated_at' then r.updated_at else t.updated_at end
      from jsonb_array_elements($1) e cross join jsonb_populate_record(null::boot_roster, e) r
     where $2[(e->>'$u')::int + 1] = (e->>'$c')::int and t.id = (e->>'$id')::text;
  when 'cn' then
    update cn t set incarnation = case when e ? 'incarnation' then r.incarnation else t.incarnation end,
        version = case when e ? 'version' then r.version else t.version end,
        wake_at = case when e ? 'wake_at' then r.wake_at else t.wake_at end,
        state = case when e ? 'state' then r.state else t.state end,
        hostname = case when e ? 'hostname' then r.hostname else t.hostname end,
        role = case when e ? 'role' then r.role else t.role end,
        admin_ip = case when e ? 'admin_ip' then r.admin_ip else t.admin_ip end,
        sysinfo = case when e ? 'sysinfo' then r.sysinfo else t.sysinfo end,
        console_listen_port = case when e ? 'console_listen_port' then r.console_listen_port else t.console_listen_port end,
        console_tls_spki_sha256_hex = case when e ? 'console_tls_spki_sha256_hex' then r.console_tls_spki_sha256_hex else t.console_tls_spki_sha256_hex end,
        registered_at = case when e ? 'registered_at' then r.registered_at else t.registered_at end,
        approved_at = case when e ? 'approved_at' then r.approved_at else t.approved_at end,
        claim_code = case when e ? 'claim_code' then r.claim_code else t.claim_code end,
        claim_code_expires_at = case when e ? 'claim_code_expires_at' then r.claim_code_expires_at else t.claim_code_expires_at end,
        registration_id = case when e ? 'registration_id' then r.registration_id else t.registration_id end,
        poll_token_sha256 = case when e ? 'poll_token_sha256' then r.poll_token_sha256 else t.poll_token_sha256 end,
        bound_api_key_id = case when e ? 'bound_api_key_id' then r.bound_api_key_id else t.bound_api_key_id end,
        pending_credential = case when e ? 'pending_credential' then r.pending_credential else t.pending_credential end,
        ticket_keys = case when e ? 'ticket_keys' then r.ticket_keys else t.ticket_keys end,
        last_setup_error = case when e ? 'last_setup_error' then r.last_setup_error else t.last_setup_error end,
        setup_progress = case when e ? 'setup_progress' then r.setup_progress else t.setup_progress end,
        disk_layout = case when e ? 'disk_layout' then r.disk_layout else t.disk_layout end,
        macs = case when e ? 'macs' then r.macs else t.macs end,
        conflict = case when e ? 'conflict' then r.conflict else t.conflict end,
        setup_epoch = case when e ? 'setup_epoch' then r.setup_epoch else t.setup_epoch end,
        setup_operation_id = case when e ? 'setup_operation_id' then r.setup_operation_id else t.setup_operation_id end,
        bundle_taken = case when e ? 'bundle_taken' then r.bundle_taken else t.bundle_taken end,
        root_password_hash = case when e ? 'root_password_hash' then r.root_password_hash else t.root_password_hash end,
        unproven = case when e ? 'unproven' then r.unproven else t.unproven end,
        announced_sysinfo = case when e ? 'announced_sysinfo' then r.announced_sysinfo else t.announced_sysinfo end,
        announced_macs = case when e ? 'announced_macs' then r.announced_macs else t.announced_macs end,
        serial = case when e ? 'serial' then r.serial else t.serial end,
        underlay_address = case when e ? 'underlay_address' then r.underlay_address else t.underlay_address end,
        underlay_mtu = case when e ? 'underlay_mtu' then r.underlay_mtu else t.underlay_mtu end,
        underlay_address_set = case when e ? 'underlay_address_set' then r.underlay_address_set else t.underlay_address_set end,
        underlay_mtu_set = case when e ? 'underlay_mtu_set' then r.underlay_mtu_set else t.underlay_mtu_set end,
        setup_delivery = case when e ? 'setup_delivery' then r.setup_delivery else t.setup_delivery end
      from jsonb_array_elements($1) e cross join jsonb_populate_record(null::cn, e) r
     where $2[(e->>'$u')::int + 1] = (e->>'$c')::int and t.server_uuid = (e->>'$id')::uuid;
  when 'console_session' then
    update console_session t set incarnation = case when e ? 'incarnation' then r.incarnation else t.incarnation end,
        version = case when e ? 'version' then r.version else t.version end,
        wake_at = case when e ? 'wake_at' then r.wake_at else t.wake_at end,
        state = case when e ? 'state' then r.state else t.state end,
        instance_id = case when e ? 'instance_id' then r.instance_id else t.instance_id end,
        cn = case when e ? 'cn' then r.cn else t.cn end, mode = case when e ? 'mode' then r.mode else t.mode end,
        take_over = case when e ? 'take_over' then r.take_over else t.take_over end,
        history_bytes = case when e ? 'history_bytes' then r.history_bytes else t.history_bytes end,
        user_id = case when e ? 'user_id' then r.user_id else t.user_id end,
        username = case when e ? 'username' then r.username else t.username end,
        key_id = case when e ? 'key_id' then r.key_id else t.key_id end,
        login_id = case when e ? 'login_id' then r.login_id else t.login_id end,
        credential_expires_at = case when e ? 'credential_expires_at' then r.credential_expires_at else t.credential_expires_at end,
        is_root = case when e ? 'is_root' then r.is_root else t.is_root end,
        ticket_sha256 = case when e ? 'ticket_sha256' then r.ticket_sha256 else t.ticket_sha256 end,
        relay_url = case when e ? 'relay_url' then r.relay_url else t.relay_url end,
        created_at = case when e ? 'created_at' then r.created_at else t.created_at end,
        expires_at = case when e ? 'expires_at' then r.expires_at else t.expires_at end
      from jsonb_array_elements($1) e cross join jsonb_populate_record(null::console_session, e) r
     where $2[(e->>'$u')::int + 1] = (e->>'$c')::int and t.id = (e->>'$id')::uuid;
  when 'enrolment_claim' then
    update enrolment_claim t set incarnation = case when e ? 'incarnation' then r.incarnation else t.incarnation end,
        version = case when e ? 'version' then r.version else t.version end,
        wake_at = case when e ? 'wake_at' then r.wake_at else t.wake_at end,
        state = case when e ? 'state' then r.state else t.state end,
        server_uuid = case when e ? 'server_uuid' then r.server_uuid else t.server_uuid end,
        claim_code = case when e ? 'claim_code' then r.claim_code else t.claim_code end,
        expires_at = case when e ? 'expires_at' then r.expires_at else t.expires_at end,
        registration_id = case when e ? 'registration_id' then r.registration_id else t.registration_id end,
        poll_token_sha256 = case when e ? 'poll_token_sha256' then r.poll_token_sha256 else t.poll_token_sha256 end,
        hostname = case when e ? 'hostname' then r.hostname else t.hostname end,
        admin_ip = case when e ? 'admin_ip' then r.admin_ip else t.admin_ip end,
        sysinfo = case when e ? 'sysinfo' then r.sysinfo else t.sysinfo end,
        macs = case when e ? 'macs' then r.macs else t.macs end,
        serial = case when e ? 'serial' then r.serial else t.serial end,
        console_listen_port = case when e ? 'console_listen_port' then r.console_listen_port else t.console_listen_port end,
        console_tls_spki_sha256_hex = case when e ? 'console_tls_spki_sha256_hex' then r.console_tls_spki_sha256_hex else t.console_tls_spki_sha256_hex end,
        source = case when e ? 'source' then r.source else t.source end,
        source_bucket = case when e ? 'source_bucket' then r.source_bucket else t.source_bucket end,
        created_at = case when e ? 'created_at' then r.created_at else t.created_at end,
        underlay_address = case when e ? 'underlay_address' then r.underlay_address else t.underlay_address end,
        underlay_mtu = case when e ? 'underlay_mtu' then r.underlay_mtu else t.underlay_mtu end
      from jsonb_array_elements($1) e cross join jsonb_populate_record(null::enrolment_claim, e) r
     where $2[(e->>'$u')::int + 1] = (e->>'$c')::int and t.id = (e->>'$id')::uuid;
  when 'external_subnet' then
    update external_subnet t set incarnation = case when e ? 'incarnation' then r.incarnation else t.incarnation end,
        version = case when e ? 'version' then r.version else t.version end,
        wake_at = case when e ? 'wake_at' then r.wake_at else t.wake_at end,
        state = case when e ? 'state' then r.state else t.state end,
        name = case when e ? 'name' then r.name else t.name end,
        description = case when e ? 'description' then r.description else t.description end,
        nic_tag = case when e ? 'nic_tag' then r.nic_tag else t.nic_tag end,
        vlan_id = case when e ? 'vlan_id' then r.vlan_id else t.vlan_id end,
        ipv4_block = case when e ? 'ipv4_block' then r.ipv4_block else t.ipv4_block end,
        ipv6_block = case when e ? 'ipv6_block' then r.ipv6_block else t.ipv6_block end,
        provision_start_ipv4 = case when e ? 'provision_start_ipv4' then r.provision_start_ipv4 else t.provision_start_ipv4 end,
        provision_end_ipv4 = case when e ? 'provision_end_ipv4' then r.provision_end_ipv4 else t.provision_end_ipv4 end,
        provision_start_ipv6 = case when e ? 'provision_start_ipv6' then r.provision_start_ipv6 else t.provision_start_ipv6 end,
        provision_end_ipv6 = case when e ? 'provision_end_ipv6' then r.provision_end_ipv6 else t.provision_end_ipv6 end,
        owner_silos = case when e ? 'owner_silos' then r.owner_silos else t.owner_silos end,
        created_at = case when e ? 'created_at' then r.created_at else t.created_at end,
        gateway_ipv4 = case when e ? 'gateway_ipv4' then r.gateway_ipv4 else t.gateway_ipv4 end,
        gateway_ipv6 = case when e ? 'gateway_ipv6' then r.gateway_ipv6 else t.gateway_ipv6 end
      from jsonb_array_elements($1) e cross join jsonb_populate_record(null::external_subnet, e) r
     where $2[(e->>'$u')::int + 1] = (e->>'$c')::int and t.id = (e->>'$id')::uuid;
  when 'firewall_rule' then
    update firewall_rule t set incarnation = case when e ? 'incarnation' then r.incarnation else t.incarnation end,
        version = case when e ? 'version' then r.version else t.version end,
        wake_at = case when e ? 'wake_at' then r.wake_at else t.wake_at end,
        state = case when e ? 'state' then r.state else t.state end,
        tenant_id = case when e ? 'tenant_id' then r.tenant_id else t.tenant_id end,
        project_id = case when e ? 'project_id' then r.project_id else t.project_id end,
        vpc_id = case when e ? 'vpc_id' then r.vpc_id else t.vpc_id end,
        name = case when e ? 'name' then r.name else t.name end,
        description = case when e ? 'description' then r.description else t.description end,
        priority = case when e ? 'priority' then r.priority else t.priority end,
        direction = case when e ? 'direction' then r.direction else t.direction end,
        action = case when e ? 'action' then r.action else t.action end,
        protocol = case when e ? 'protocol' then r.protocol else t.protocol end,
        source_cidr = case when e ? 'source_cidr' then r.source_cidr else t.source_cidr end,
        destination_cidr = case when e ? 'destination_cidr' then r.destination_cidr else t.destination_cidr end,
        source_ports = case when e ? 'source_ports' then r.source_ports else t.source_ports end,
        destination_ports = case when e ? 'destination_ports' then r.destination_ports else t.destination_ports end,
        icmp_type_code = case when e ? 'icmp_type_code' then r.icmp_type_code else t.icmp_type_code end,
        created_at = case when e ? 'created_at' then r.created_at else t.created_at end,
        labels = case when e ? 'labels' then r.labels else t.labels end
      from jsonb_array_elements($1) e cross join jsonb_populate_record(null::firewall_rule, e) r
     where $2[(e->>'$u')::int + 1] = (e->>'$c')::int and t.id = (e->>'$id')::uuid;
  when 'floating_ip' then
    update floating_ip t set incarnation = case when e ? 'incarnation' then r.incarnation else t.incarnation end,
        version = case when e ? 'version' then r.version else t.version end,
        wake_at = case when e ? 'wake_at' then r.wake_at else t.wake_at end,
        state = case when e ? 'state' then r.state else t.state end,
        tenant_id = case when e ? 'tenant_id' then r.tenant_id else t.tenant_id end,
        project_id = case when e ? 'project_id' then r.project_id else t.project_id end,
        name = case when e ? 'name' then r.name else t.name end,
        description = case when e ? 'description' then r.description else t.description end,
        address = case when e ? 'address' then r.address else t.address end,
        family = case when e ? 'family' then r.family else t.family end,
        pool_id = case when e ? 'pool_id' then r.pool_id else t.pool_id end,
        network_id = case when e ? 'network_id' then r.network_id else t.network_id end,
        external_nic_tag = case when e ? 'external_nic_tag' then r.external_nic_tag else t.external_nic_tag end,
        attached_to = case when e ? 'attached_to' then r.attached_to else t.attached_to end,
        attached_instance_id = case when e ? 'attached_instance_id' then r.attached_instance_id else t.attached_instance_id end,
        hosted_cn = case when e ? 'hosted_cn' then r.hosted_cn else t.hosted_cn end,
        created_at = case when e ? 'created_at' then r.created_at else t.created_at end,
        updated_at = case when e ? 'updated_at' then r.updated_at else t.updated_at end,
        generation = case when e ? 'generation' then r.generation else t.generation end,
        operation_id = case when e ? 'operation_id' then r.operation_id else t.operation_id end,
        operation_kind = case when e ? 'operation_kind' then r.operation_kind else t.operation_kind end,
        prior_nic_id = case when e ? 'prior_nic_id' then r.prior_nic_id else t.prior_nic_id end,
        prior_instance_id = case when e ? 'prior_instance_id' then r.prior_instance_id else t.prior_instance_id end,
        prior_cn = case when e ? 'prior_cn' then r.prior_cn else t.prior_cn end,
        reclaimed_as = case when e ? 'reclaimed_as' then r.reclaimed_as else t.reclaimed_as end,
        labels = case when e ? 'labels' then r.labels else t.labels end
      from jsonb_array_elements($1) e cross join jsonb_populate_record(null::floating_ip, e) r
     where $2[(e->>'$u')::int + 1] = (e->>'$c')::int and t.id = (e->>'$id')::uuid;
  when 'tenant_idp' then
    update tenant_idp t set incarnation = case when e ? 'incarnation' then r.incarnation else t.incarnation end,
        version = case when e ? 'version' then r.version else t.version end,
        wake_at = case when e ? 'wake_at' then r.wake_at else t.wake_at end,
        state = case when e ? 'state' then r.state else t.state end,
        issuer_url = case when e ? 'issuer_url' then r.issuer_url else t.issuer_url end,
        client_id = case when e ? 'client_id' then r.client_id else t.client_id end,
        client_secret = case when e ? 'client_secret' then r.client_secret else t.client_secret end,
        audience = case when e ? 'audience' then r.audience else t.audience end,
        created_at = case when e ? 'created_at' then r.created_at else t.created_at end
      from jsonb_array_elements($1) e cross join jsonb_populate_record(null::tenant_idp, e) r
     where $2[(e->>'$u')::int + 1] = (e->>'$c')::int and t.tenant_id = (e->>'$id')::uuid;
  when 'image' then
    update image t set incarnation = case when e ? 'incarnation' then r.incarnation else t.incarnation end,
        version = case when e ? 'version' then r.version else t.version end,
        wake_at = case when e ? 'wake_at' then r.wake_at else t.wake_at end,
        state = case when e ? 'state' then r.state else t.state end,
        scope_kind = case when e ? 'scope_kind' then r.scope_kind else t.scope_kind end,
        silo_id = case when e ? 'silo_id' then r.silo_id else t.silo_id end,
        tenant_id = case when e ? 'tenant_id' then r.tenant_id else t.tenant_id end,
        project_id = case when e ? 'project_id' then r.project_id else t.project_id end,
        name = case when e ? 'name' then r.name else t.name end,
        description = case when e ? 'description' then r.description else t.description end,
        os = case when e ? 'os' then r.os else t.os end,
        os_version = case when e ? 'os_version' then r.os_version else t.os_version end,
        size_bytes = case when e ? 'size_bytes' then r.size_bytes else t.size_bytes end,
        sha256 = case when e ? 'sha256' then r.sha256 else t.sha256 end,
        source_url = case when e ? 'source_url' then r.source_url else t.source_url end,
        compatibility = case when e ? 'compatibility' then r.compatibility else t.compatibility end,
        created_at = case when e ? 'created_at' then r.created_at else t.created_at end,
        content_bytes = case when e ? 'content_bytes' then r.content_bytes else t.content_bytes end,
        labels = case when e ? 'labels' then r.labels else t.labels end
      from jsonb_array_elements($1) e cross join jsonb_populate_record(null::image, e) r
     where $2[(e->>'$u')::int + 1] = (e->>'$c')::int and t.id = (e->>'$id')::uuid;
  when 'image_upload' then
    update image_upload t set incarnation = case when e ? 'incarnation' then r.incarnation else t.incarnation end,
        version = case when e ? 'version' then r.version else t.version end,
        wake_at = case when e ? 'wake_at' then r.wake_at else t.wake_at end,
        state = case when e ? 'state' then r.state else t.state end,
        tenant_id = case when e ? 'tenant_id' then r.tenant_id else t.tenant_id end,
        project_id = case when e ? 'project_id' then r.project_id else t.project_id end,
        name = case when e ? 'name' then r.name else t.name end,
        description = case when e ? 'description' then r.description else t.description end,
        os = case when e ? 'os' then r.os else t.os end,
        os_version = case when e ? 'os_version' then r.os_version else t.os_version end,
        compatibility = case when e ? 'compatibility' then r.compatibility else t.compatibility end,
        content_bytes = case when e ? 'content_bytes' then r.content_bytes else t.content_bytes end,
        size_bytes = case when e ? 'size_bytes' then r.size_bytes else t.size_bytes end,
        received_bytes = case when e ? 'received_bytes' then r.received_bytes else t.received_bytes end,
        created_at = case when e ? 'created_at' then r.created_at else t.created_at end,
        expires_at = case when e ? 'expires_at' then r.expires_at else t.expires_at end,
        labels = case when e ? 'labels' then r.labels else t.labels end,
        operation_id = case when e ? 'operation_id' then r.operation_id else t.operation_id end,
        sha256 = case when e ? 'sha256' then r.sha256 else t.sha256 end
      from jsonb_array_elements($1) e cross join jsonb_populate_record(null::image_upload, e) r
     where $2[(e->>'$u')::int + 1] = (e->>'$c')::int and t.id = (e->>'$id')::uuid;
  when 'instance' then
    update instance t set incarnation = case when e ? 'incarnation' then r.incarnation else t.incarnation end,
        version = case when e ? 'version' then r.version else t.version end,
        wake_at = case when e ? 'wake_at' then r.wake_at else t.wake_at end,
        state = case when e ? 'state' then r.state else t.state end,
        host_cn_uuid = case when e ? 'host_cn_uuid' then r.host_cn_uuid else t.host_cn_uuid end,
        image_id = case when e ? 'image_id' then r.image_id else t.image_id end,
        tenant_id = case when e ? 'tenant_id' then r.tenant_id else t.tenant_id end,
        project_id = case when e ? 'project_id' then r.project_id else t.project_id end,
        name = case when e ? 'name' then r.name else t.name end,
        description = case when e ? 'description' then r.description else t.description end,
        brand = case when e ? 'brand' then r.brand else t.brand end,
        cpu = case when e ? 'cpu' then r.cpu else t.cpu end,
        memory_bytes = case when e ? 'memory_bytes' then r.memory_bytes else t.memory_bytes end,
        primary_subnet_id = case when e ? 'primary_subnet_id' then r.primary_subnet_id else t.primary_subnet_id end,
        ssh_key_ids = case when e ? 'ssh_key_ids' then r.ssh_key_ids else t.ssh_key_ids end,
        reason = case when e ? 'reason' then r.reason else t.reason end,
        operation_id = case when e ? 'operation_id' then r.operation_id else t.operation_id end,
        operation_kind = case when e ? 'operation_kind' then r.operation_kind else t.operation_kind end,
        job_begun = case when e ? 'job_begun' then r.job_begun else t.job_begun end,
        unwinding_as = case when e ? 'unwinding_as' then r.unwinding_as else t.unwinding_as end,
        floating_ip_ids = case when e ? 'floating_ip_ids' then r.floating_ip_ids else t.floating_ip_ids end,
        reported_at = case when e ? 'reported_at' then r.reported_at else t.reported_at end,
        missed_reports = case when e ? 'missed_reports' then r.missed_reports else t.missed_reports end,
        created_at = case when e ? 'created_at' then r.created_at else t.created_at end,
        updated_at = case when e ? 'updated_at' then r.updated_at else t.updated_at end,
        labels = case when e ? 'labels' then r.labels else t.labels end,
        deletion_protection = case when e ? 'deletion_protection' then r.deletion_protection else t.deletion_protection end,
        placement_group_id = case when e ? 'placement_group_id' then r.placement_group_id else t.placement_group_id end
      from jsonb_array_elements($1) e cross join jsonb_populate_record(null::instance, e) r
     where $2[(e->>'$u')::int + 1] = (e->>'$c')::int and t.id = (e->>'$id')::uuid;
  when 'job' then
    update job t set incarnation = case when e ? 'incarnation' then r.incarnation else t.incarnation end,
        version = case when e ? 'version' then r.version else t.version end,
        wake_at = case when e ? 'wake_at' then r.wake_at else t.wake_at end,
        state = case when e ? 'state' then r.state else t.state end,
        seq = case when e ? 'seq' then r.seq else t.seq end,
        kind = case when e ? 'kind' then r.kind else t.kind end,
        target_cn = case when e ? 'target_cn' then r.target_cn else t.target_cn end,
        payload = case when e ? 'payload' then r.payload else t.payload end,
        saga_id = case when e ? 'saga_id' then r.saga_id else t.saga_id end,
        created_at = case when e ? 'created_at' then r.created_at else t.created_at end,
        claimed_by = case when e ? 'claimed_by' then r.claimed_by else t.claimed_by end,
        claimed_at = case when e ? 'claimed_at' then r.claimed_at else t.claimed_at end,
        lease_until = case when e ? 'lease_until' then r.lease_until else t.lease_until end,
        result = case when e ? 'result' then r.result else t.result end,
        reason = case when e ? 'reason' then r.reason else t.reason end,
        tombstone = case when e ? 'tombstone' then r.tombstone else t.tombstone end,
        completed_at = case when e ? 'completed_at' then r.completed_at else t.completed_at end,
        burial_told_as = case when e ? 'burial_told_as' then r.burial_told_as else t.burial_told_as end,
        lease_s = case when e ? 'lease_s' then r.lease_s else t.lease_s end
      from jsonb_array_elements($1) e cross join jsonb_populate_record(null::job, e) r
     where $2[(e->>'$u')::int + 1] = (e->>'$c')::int and t.id = (e->>'$id')::uuid;
  when 'nat_gateway' then
    update nat_gateway t set incarnation = case when e ? 'incarnation' then r.incarnation else t.incarnation end,
        version = case when e ? 'version' then r.version else t.version end,
        wake_at = case when e ? 'wake_at' then r.wake_at else t.wake_at end,
        state = case when e ? 'state' then r.state else t.state end,
        tenant_id = case when e ? 'tenant_id' then r.tenant_id else t.tenant_id end,
        project_id = case when e ? 'project_id' then r.project_id else t.project_id end,
        vpc_id = case when e ? 'vpc_id' then r.vpc_id else t.vpc_id end,
        name = case when e ? 'name' then r.name else t.name end,
        description = case when e ? 'description' then r.description else t.description end,
        family = case when e ? 'family' then r.family else t.family end,
        public_address = case when e ? 'public_address' then r.public_address else t.public_address end,
        desired_generation = case when e ? 'desired_generation' then r.desired_generation else t.desired_generation end,
        created_at = case when e ? 'created_at' then r.created_at else t.created_at end,
        updated_at = case when e ? 'updated_at' then r.updated_at else t.updated_at end,
        host_cn_uuid = case when e ? 'host_cn_uuid' then r.host_cn_uuid else t.host_cn_uuid end,
        leaving_cn_uuid = case when e ? 'leaving_cn_uuid' then r.leaving_cn_uuid else t.leaving_cn_uuid end,
        left_at = case when e ? 'left_at' then r.left_at else t.left_at end,
        labels = case when e ? 'labels' then r.labels else t.labels end,
        network_id = case when e ? 'network_id' then r.network_id else t.network_id end,
        external_nic_tag = case when e ? 'external_nic_tag' then r.external_nic_tag else t.external_nic_tag end,
        pool_id = case when e ? 'pool_id' then r.pool_id else t.pool_id end
      from jsonb_array_elements($1) e cross join jsonb_populate_record(null::nat_gateway, e) r
     where $2[(e->>'$u')::int + 1] = (e->>'$c')::int and t.id = (e->>'$id')::uuid;
  when 'network_pool' then
    update network_pool t set incarnation = case when e ? 'incarnation' then r.incarnation else t.incarnation end,
        version = case when e ? 'version' then r.version else t.version end,
        wake_at = case when e ? 'wake_at' then r.wake_at else t.wake_at end,
        state = case when e ? 'state' then r.state else t.state end,
        name = case when e ? 'name' then r.name else t.name end,
        description = case when e ? 'description' then r.description else t.description end,
        networks = case when e ? 'networks' then r.networks else t.networks end,
        owner_silos = case when e ? 'owner_silos' then r.owner_silos else t.owner_silos end,
        created_at = case when e ? 'created_at' then r.created_at else t.created_at end
      from jsonb_array_elements($1) e cross join jsonb_populate_record(null::network_pool, e) r
     where $2[(e->>'$u')::int + 1] = (e->>'$c')::int and t.id = (e->>'$id')::uuid;
  when 'nic_tag' then
    update nic_tag t set incarnation = case when e ? 'incarnation' then r.incarnation else t.incarnation end,
        version = case when e ? 'version' then r.version else t.version end,
        wake_at = case when e ? 'wake_at' then r.wake_at else t.wake_at end,
        state = case when e ? 'state' then r.state else t.state end,
        name = case when e ? 'name' then r.name else t.name end,
        description = case when e ? 'description' then r.description else t.description end,
        mtu = case when e ? 'mtu' then r.mtu else t.mtu end,
        created_at = case when e ? 'created_at' then r.created_at else t.created_at end
      from jsonb_array_elements($1) e cross join jsonb_populate_record(null::nic_tag, e) r
     where $2[(e->>'$u')::int + 1] = (e->>'$c')::int and t.id = (e->>'$id')::uuid;
  when 'placement_group' then
    update placement_group t set incarnation = case when e ? 'incarnation' then r.incarnation else t.incarnation end,
        version = case when e ? 'version' then r.version else t.version end,
        wake_at = case when e ? 'wake_at' then r.wake_at else t.wake_at end,
        state = case when e ? 'state' then r.state else t.state end,
        tenant_id = case when e ? 'tenant_id' then r.tenant_id else t.tenant_id end,
        project_id = case when e ? 'project_id' then r.project_id else t.project_id end,
        name = case when e ? 'name' then r.name else t.name end,
        description = case when e ? 'description' then r.description else t.description end,
        labels = case when e ? 'labels' then r.labels else t.labels end,
        policy = case when e ? 'policy' then r.policy else t.policy end,
        level = case when e ? 'level' then r.level else t.level end,
        strictness = case when e ? 'strictness' then r.strictness else t.strictness end,
        created_at = case when e ? 'created_at' then r.created_at else t.created_at end
      from jsonb_array_elements($1) e cross join jsonb_populate_record(null::placement_group, e) r
     where $2[(e->>'$u')::int + 1] = (e->>'$c')::int and t.id = (e->>'$id')::uuid;
  when 'port_forward' then
    update port_forward t set incarnation = case when e ? 'incarnation' then r.incarnation else t.incarnation end,
        version = case when e ? 'version' then r.version else t.version end,
        wake_at = case when e ? 'wake_at' then r.wake_at else t.wake_at end,
        state = case when e ? 'state' then r.state else t.state end,
        tenant_id = case when e ? 'tenant_id' then r.tenant_id else t.tenant_id end,
        project_id = case when e ? 'project_id' then r.project_id else t.project_id end,
        vpc_id = case when e ? 'vpc_id' then r.vpc_id else t.vpc_id end,
        nat_gateway_id = case when e ? 'nat_gateway_id' then r.nat_gateway_id else t.nat_gateway_id end,
        nic_id = case when e ? 'nic_id' then r.nic_id else t.nic_id end,
        name = case when e ? 'name' then r.name else t.name end,
        description = case when e ? 'description' then r.description else t.description end,
        protocol = case when e ? 'protocol' then r.protocol else t.protocol end,
        public_port = case when e ? 'public_port' then r.public_port else t.public_port end,
        nic_port = case when e ? 'nic_port' then r.nic_port else t.nic_port end,
        created_at = case when e ? 'created_at' then r.created_at else t.created_at end,
        labels = case when e ? 'labels' then r.labels else t.labels end
      from jsonb_array_elements($1) e cross join jsonb_populate_record(null::port_forward, e) r
     where $2[(e->>'$u')::int + 1] = (e->>'$c')::int and t.id = (e->>'$id')::uuid;
  when 'project' then
    update project t set incarnation = case when e ? 'incarnation' then r.incarnation else t.incarnation end,
        version = case when e ? 'version' then r.version else t.version end,
        wake_at = case when e ? 'wake_at' then r.wake_at else t.wake_at end,
        state = case when e ? 'state' then r.state else t.state end,
        tenant_id = case when e ? 'tenant_id' then r.tenant_id else t.tenant_id end,
        name = case when e ? 'name' then r.name else t.name end,
        description = case when e ? 'description' then r.description else t.description end,
        created_at = case when e ? 'created_at' then r.created_at else t.created_at end,
        labels = case when e ? 'labels' then r.labels else t.labels end
      from jsonb_array_elements($1) e cross join jsonb_populate_record(null::project, e) r
     where $2[(e->>'$u')::int + 1] = (e->>'$c')::int and t.id = (e->>'$id')::uuid;
  when 'quota' then
    update quota t set incarnation = case when e ? 'incarnation' then r.incarnation else t.incarnation end,
        version = case when e ? 'version' then r.version else t.version end,
        wake_at = case when e ? 'wake_at' then r.wake_at else t.wake_at end,
        state = case when e ? 'state' then r.state else t.state end,
        tenant_id = case when e ? 'tenant_id' then r.tenant_id else t.tenant_id end,
        cpu_limit = case when e ? 'cpu_limit' then r.cpu_limit else t.cpu_limit end,
        memory_bytes = case when e ? 'memory_bytes' then r.memory_bytes else t.memory_bytes end,
        disk_bytes = case when e ? 'disk_bytes' then r.disk_bytes else t.disk_bytes end,
        instance_limit = case when e ? 'instance_limit' then r.instance_limit else t.instance_limit end,
        updated_at = case when e ? 'updated_at' then r.updated_at else t.updated_at end
      from jsonb_array_elements($1) e cross join jsonb_populate_record(null::quota, e) r
     where $2[(e->>'$u')::int + 1] = (e->>'$c')::int and t.project_id = (e->>'$id')::uuid;
  when 'route' then
    update route t set incarnation = case when e ? 'incarnation' then r.incarnation else t.incarnation end,
        version = case when e ? 'version' then r.version else t.version end,
        wake_at = case when e ? 'wake_at' then r.wake_at else t.wake_at end,
        state = case when e ? 'state' then r.state else t.state end,
        tenant_id = case when e ? 'tenant_id' then r.tenant_id else t.tenant_id end,
        project_id = case when e ? 'project_id' then r.project_id else t.project_id end,
        vpc_id = case when e ? 'vpc_id' then r.vpc_id else t.vpc_id end,
        route_table_id = case when e ? 'route_table_id' then r.route_table_id else t.route_table_id end,
        name = case when e ? 'name' then r.name else t.name end,
        description = case when e ? 'description' then r.description else t.description end,
        destination = case when e ? 'destination' then r.destination else t.destination end,
        target_kind = case when e ? 'target_kind' then r.target_kind else t.target_kind end,
        nat_gateway_id = case when e ? 'nat_gateway_id' then r.nat_gateway_id else t.nat_gateway_id end,
        created_at = case when e ? 'created_at' then r.created_at else t.created_at end,
        labels = case when e ? 'labels' then r.labels else t.labels end
      from jsonb_array_elements($1) e cross join jsonb_populate_record(null::route, e) r
     where $2[(e->>'$u')::int + 1] = (e->>'$c')::int and t.id = (e->>'$id')::uuid;
  when 'route_table' then
    update route_table t set incarnation = case when e ? 'incarnation' then r.incarnation else t.incarnation end,
        version = case when e ? 'version' then r.version else t.version end,
        wake_at = case when e ? 'wake_at' then r.wake_at else t.wake_at end,
        state = case when e ? 'state' then r.state else t.state end,
        tenant_id = case when e ? 'tenant_id' then r.tenant_id else t.tenant_id end,
        project_id = case when e ? 'project_id' then r.project_id else t.project_id end,
        vpc_id = case when e ? 'vpc_id' then r.vpc_id else t.vpc_id end,
        name = case when e ? 'name' then r.name else t.name end,
        description = case when e ? 'description' then r.description else t.description end,
        is_main = case when e ? 'is_main' then r.is_main else t.is_main end,
        created_at = case when e ? 'created_at' then r.created_at else t.created_at end,
        labels = case when e ? 'labels' then r.labels else t.labels end
      from jsonb_array_elements($1) e cross join jsonb_populate_record(null::route_table, e) r
     where $2[(e->>'$u')::int + 1] = (e->>'$c')::int and t.id = (e->>'$id')::uuid;
  when 'saga' then
    update saga t set incarnation = case when e ? 'incarnation' then r.incarnation else t.incarnation end,
        version = case when e ? 'version' then r.version else t.version end,
        wake_at = case when e ? 'wake_at' then r.wake_at else t.wake_at end,
        state = case when e ? 'state' then r.state else t.state end,
        saga = case when e ? 'saga' then r.saga else t.saga end,
        params = case when e ? 'params' then r.params else t.params end,
        refs = case when e ? 'refs' then r.refs else t.refs end,
        outputs = case when e ? 'outputs' then r.outputs else t.outputs end,
        steps = case when e ? 'steps' then r.steps else t.steps end,
        early = case when e ? 'early' then r.early else t.early end,
        error = case when e ? 'error' then r.error else t.error end,
        created_at = case when e ? 'created_at' then r.created_at else t.created_at end,
        step = case when e ? 'step' then r.step else t.step end,
        job_id = case when e ? 'job_id' then r.job_id else t.job_id end,
        attempts = case when e ? 'attempts' then r.attempts else t.attempts end,
        due_at = case when e ? 'due_at' then r.due_at else t.due_at end,
        done_at = case when e ? 'done_at' then r.done_at else t.done_at end,
        stuck_reason = case when e ? 'stuck_reason' then r.stuck_reason else t.stuck_reason end
      from jsonb_array_elements($1) e cross join jsonb_populate_record(null::saga, e) r
     where $2[(e->>'$u')::int + 1] = (e->>'$c')::int and t.id = (e->>'$id')::uuid;
  when 'session' then
    update session t set incarnation = case when e ? 'incarnation' then r.incarnation else t.incarnation end,
        version = case when e ? 'version' then r.version else t.version end,
        wake_at = case when e ? 'wake_at' then r.wake_at else t.wake_at end,
        state = case when e ? 'state' then r.state else t.state end,
        user_id = case when e ? 'user_id' then r.user_id else t.user_id end,
        user_epoch = case when e ? 'user_epoch' then r.user_epoch else t.user_epoch end,
        generation = case when e ? 'generation' then r.generation else t.generation end,
        created_at = case when e ? 'created_at' then r.created_at else t.created_at end,
        refreshed_at = case when e ? 'refreshed_at' then r.refreshed_at else t.refreshed_at end,
        expires_at = case when e ? 'expires_at' then r.expires_at else t.expires_at end,
        kind = case when e ? 'kind' then r.kind else t.kind end,
        api_key_id = case when e ? 'api_key_id' then r.api_key_id else t.api_key_id end,
        granted_root = case when e ? 'granted_root' then r.granted_root else t.granted_root end,
        granted_scope = case when e ? 'granted_scope' then r.granted_scope else t.granted_scope end
      from jsonb_array_elements($1) e cross join jsonb_populate_record(null::session, e) r
     where $2[(e->>'$u')::int + 1] = (e->>'$c')::int and t.id = (e->>'$id')::uuid;
  when 'setting' then
    update setting t set incarnation = case when e ? 'incarnation' then r.incarnation else t.incarnation end,
        version = case when e ? 'version' then r.version else t.version end,
        wake_at = case when e ? 'wake_at' then r.wake_at else t.wake_at end,
        state = case when e ? 'state' then r.state else t.state end,
        value = case when e ? 'value' then r.value else t.value end,
        updated_at = case when e ? 'updated_at' then r.updated_at else t.updated_at end
      from jsonb_array_elements($1) e cross join jsonb_populate_record(null::setting, e) r
     where $2[(e->>'$u')::int + 1] = (e->>'$c')::int and t.key = (e->>'$id')::text;
  when 'silo' then
    update silo t set incarnation = case when e ? 'incarnation' then r.incarnation else t.incarnation end,
        version = case when e ? 'version' then r.version else t.version end,
        wake_at = case when e ? 'wake_at' then r.wake_at else t.wake_at end,
        state = case when e ? 'state' then r.state else t.state end,
        name = case when e ? 'name' then r.name else t.name end,
        description = case when e ? 'description' then r.description else t.description end,
        default_tenant_id = case when e ? 'default_tenant_id' then r.default_tenant_id else t.default_tenant_id end,
        created_at = case when e ? 'created_at' then r.created_at else t.created_at end
      from jsonb_array_elements($1) e cross join jsonb_populate_record(null::silo, e) r
     where $2[(e->>'$u')::int + 1] = (e->>'$c')::int and t.id = (e->>'$id')::uuid;
  when 'site' then
    update site t set incarnation = case when e ? 'incarnation' then r.incarnation else t.incarnation end,
        version = case when e ? 'version' then r.version else t.version end,
        wake_at = case when e ? 'wake_at' then r.wake_at else t.wake_at end,
        state = case when e ? 'state' then r.state else t.state end,
        window_opened_at = case when e ? 'window_opened_at' then r.window_opened_at else t.window_opened_at end,
        window_expires_at = case when e ? 'window_expires_at' then r.window_expires_at else t.window_expires_at end,
        window_count = case when e ? 'window_count' then r.window_count else t.window_count end,
        window_opened_by = case when e ? 'window_opened_by' then r.window_opened_by else t.window_opened_by end
      from jsonb_array_elements($1) e cross join jsonb_populate_record(null::site, e) r
     where $2[(e->>'$u')::int + 1] = (e->>'$c')::int and t.id = (e->>'$id')::text;
  when 'ssh_key' then
    update ssh_key t set incarnation = case when e ? 'incarnation' then r.incarnation else t.incarnation end,
        version = case when e ? 'version' then r.version else t.version end,
        wake_at = case when e ? 'wake_at' then r.wake_at else t.wake_at end,
        state = case when e ? 'state' then r.state else t.state end,
        scope_kind = case when e ? 'scope_kind' then r.scope_kind else t.scope_kind end,
        silo_id = case when e ? 'silo_id' then r.silo_id else t.silo_id end,
        tenant_id = case when e ? 'tenant_id' then r.tenant_id else t.tenant_id end,
        project_id = case when e ? 'project_id' then r.project_id else t.project_id end,
        user_id = case when e ? 'user_id' then r.user_id else t.user_id end,
        name = case when e ? 'name' then r.name else t.name end,
        description = case when e ? 'description' then r.description else t.description end,
        public_key = case when e ? 'public_key' then r.public_key else t.public_key end,
        fingerprint = case when e ? 'fingerprint' then r.fingerprint else t.fingerprint end,
        created_at = case when e ? 'created_at' then r.created_at else t.created_at end,
        labels = case when e ? 'labels' then r.labels else t.labels end
      from jsonb_array_elements($1) e cross join jsonb_populate_record(null::ssh_key, e) r
     where $2[(e->>'$u')::int + 1] = (e->>'$c')::int and t.id = (e->>'$id')::uuid;
  when 'staging' then
    update staging t set incarnation = case when e ? 'incarnation' then r.incarnation else t.incarnation end,
        version = case when e ? 'version' then r.version else t.version end,
        wake_at = case when e ? 'wake_at' then r.wake_at else t.wake_at end,
        state = case when e ? 'state' then r.state else t.state end,
        stamps = case when e ? 'stamps' then r.stamps else t.stamps end,
        staged_at = case when e ? 'staged_at' then r.staged_at else t.staged_at end,
        kinds = case when e ? 'kinds' then r.kinds else t.kinds end
      from jsonb_array_elements($1) e cross join jsonb_populate_record(null::staging, e) r
     where $2[(e->>'$u')::int + 1] = (e->>'$c')::int and t.staged_by = (e->>'$id')::uuid;
  when 'subnet' then
    update subnet t set incarnation = case when e ? 'incarnation' then r.incarnation else t.incarnation end,
        version = case when e ? 'version' then r.version else t.version end,
        wake_at = case when e ? 'wake_at' then r.wake_at else t.wake_at end,
        state = case when e ? 'state' then r.state else t.state end,
        tenant_id = case when e ? 'tenant_id' then r.tenant_id else t.tenant_id end,
        project_id = case when e ? 'project_id' then r.project_id else t.project_id end,
        vpc_id = case when e ? 'vpc_id' then r.vpc_id else t.vpc_id end,
        route_table_id = case when e ? 'route_table_id' then r.route_table_id else t.route_table_id end,
        name = case when e ? 'name' then r.name else t.name end,
        description = case when e ? 'description' then r.description else t.description end,
        ipv4_block = case when e ? 'ipv4_block' then r.ipv4_block else t.ipv4_block end,
        ipv6_block = case when e ? 'ipv6_block' then r.ipv6_block else t.ipv6_block end,
        vpc_ipv4_block = case when e ? 'vpc_ipv4_block' then r.vpc_ipv4_block else t.vpc_ipv4_block end,
        vpc_ipv6_block = case when e ? 'vpc_ipv6_block' then r.vpc_ipv6_block else t.vpc_ipv6_block end,
        created_at = case when e ? 'created_at' then r.created_at else t.created_at end,
        labels = case when e ? 'labels' then r.labels else t.labels end
      from jsonb_array_elements($1) e cross join jsonb_populate_record(null::subnet, e) r
     where $2[(e->>'$u')::int + 1] = (e->>'$c')::int and t.id = (e->>'$id')::uuid;
  when 'tenant' then
    update tenant t set incarnation = case when e ? 'incarnation' then r.incarnation else t.incarnation end,
        version = case when e ? 'version' then r.version else t.version end,
        wake_at = case when e ? 'wake_at' then r.wake_at else t.wake_at end,
        state = case when e ? 'state' then r.state else t.state end,
        silo_id = case when e ? 'silo_id' then r.silo_id else t.silo_id end,
        name = case when e ? 'name' then r.name else t.name end,
        description = case when e ? 'description' then r.description else t.description end,
        created_at = case when e ? 'created_at' then r.created_at else t.created_at end
      from jsonb_array_elements($1) e cross join jsonb_populate_record(null::tenant, e) r
     where $2[(e->>'$u')::int + 1] = (e->>'$c')::int and t.id = (e->>'$id')::uuid;
  when 'tenant_quota' then
    update tenant_quota t set incarnation = case when e ? 'incarnation' then r.incarnation else t.incarnation end,
        version = case when e ? 'version' then r.version else t.version end,
        wake_at = case when e ? 'wake_at' then r.wake_at else t.wake_at end,
        state = case when e ? 'state' then r.state else t.state end,
        cpu_limit = case when e ? 'cpu_limit' then r.cpu_limit else t.cpu_limit end,
        memory_bytes = case when e ? 'memory_bytes' then r.memory_bytes else t.memory_bytes end,
        disk_bytes = case when e ? 'disk_bytes' then r.disk_bytes else t.disk_bytes end,
        instance_limit = case when e ? 'instance_limit' then r.instance_limit else t.instance_limit end,
        updated_at = case when e ? 'updated_at' then r.updated_at else t.updated_at end
      from jsonb_array_elements($1) e cross join jsonb_populate_record(null::tenant_quota, e) r
     where $2[(e->>'$u')::int + 1] = (e->>'$c')::int and t.tenant_id = (e->>'$id')::uuid;
  when 'user_account' then
    update user_account t set username = case when e ? 'username' then r.username else t.username end,
        is_root = case when e ? 'is_root' then r.is_root else t.is_root end,
        created_at = case when e ? 'created_at' then r.created_at else t.created_at end,
        incarnation = case when e ? 'incarnation' then r.incarnation else t.incarnation end,
        version = case when e ? 'version' then r.version else t.version end,
        wake_at = case when e ? 'wake_at' then r.wake_at else t.wake_at end,
        state = case when e ? 'state' then r.state else t.state end,
        tenant_id = case when e ? 'tenant_id' then r.tenant_id else t.tenant_id end,
        password_hash = case when e ? 'password_hash' then r.password_hash else t.password_hash end,
        capabilities = case when e ? 'capabilities' then r.capabilities else t.capabilities end,
        issuer = case when e ? 'issuer' then r.issuer else t.issuer end,
        subject = case when e ? 'subject' then r.subject else t.subject end,
        session_epoch = case when e ? 'session_epoch' then r.session_epoch else t.session_epoch end
      from jsonb_array_elements($1) e cross join jsonb_populate_record(null::user_account, e) r
     where $2[(e->>'$u')::int + 1] = (e->>'$c')::int and t.id = (e->>'$id')::uuid;
  when 'vpc' then
    update vpc t set incarnation = case when e ? 'incarnation' then r.incarnation else t.incarnation end,
        version = case when e ? 'version' then r.version else t.version end,
        wake_at = case when e ? 'wake_at' then r.wake_at else t.wake_at end,
        state = case when e ? 'state' then r.state else t.state end,
        tenant_id = case when e ? 'tenant_id' then r.tenant_id else t.tenant_id end,
        project_id = case when e ? 'project_id' then r.project_id else t.project_id end,
        main_route_table_id = case when e ? 'main_route_table_id' then r.main_route_table_id else t.main_route_table_id end,
        name = case when e ? 'name' then r.name else t.name end,
        description = case when e ? 'description' then r.description else t.description end,
        vni = case when e ? 'vni' then r.vni else t.vni end,
        ipv4_block = case when e ? 'ipv4_block' then r.ipv4_block else t.ipv4_block end,
        ipv6_block = case when e ? 'ipv6_block' then r.ipv6_block else t.ipv6_block end,
        created_at = case when e ? 'created_at' then r.created_at else t.created_at end,
        labels = case when e ? 'labels' then r.labels else t.labels end
      from jsonb_array_elements($1) e cross join jsonb_populate_record(null::vpc, e) r
     where $2[(e->>'$u')::int + 1] = (e->>'$c')::int and t.id = (e->>'$id')::uuid;
  when 'webhook' then
    update webhook t set incarnation = case when e ? 'incarnation' then r.incarnation else t.incarnation end,
        version = case when e ? 'version' then r.version else t.version end,
        wake_at = case when e ? 'wake_at' then r.wake_at else t.wake_at end,
        state = case when e ? 'state' then r.state else t.state end,
        tenant_id = case when e ? 'tenant_id' then r.tenant_id else t.tenant_id end,
        project_id = case when e ? 'project_id' then r.project_id else t.project_id end,
        name = case when e ? 'name' then r.name else t.name end,
        description = case when e ? 'description' then r.description else t.description end,
        labels = case when e ? 'labels' then r.labels else t.labels end,
        url = case when e ? 'url' then r.url else t.url end,
        events = case when e ? 'events' then r.events else t.events end,
        enabled = case when e ? 'enabled' then r.enabled else t.enabled end,
        sealed_secret = case when e ? 'sealed_secret' then r.sealed_secret else t.sealed_secret end,
        created_at = case when e ? 'created_at' then r.created_at else t.created_at end,
        enabled_at = case when e ? 'enabled_at' then r.enabled_at else t.enabled_at end,
        disabled_at = case when e ? 'disabled_at' then r.disabled_at else t.disabled_at end
      from jsonb_array_elements($1) e cross join jsonb_populate_record(null::webhook, e) r
     where $2[(e->>'$u')::int + 1] = (e->>'$c')::int and t.id = (e->>'$id')::uuid;
  else
    execute berth_statement('update', $4, $5, $6) using $1, $2, $3;
  end case;
end $$;
