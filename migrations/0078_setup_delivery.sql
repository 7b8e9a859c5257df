-- The setup script that a booter delivered to a machine (docs/booting.md, "Two booters on one network"). Another booter
-- accepts the calls of this script by the SHA-256 of the script's token. The token itself is never stored.
alter table cn add column setup_delivery jsonb check (jsonb_typeof(setup_delivery) = 'object');
create index cn_setup_token on cn ((setup_delivery->>'token_sha256')) where setup_delivery is not null;

-- Creates the view again, with the new column.
drop view cn_loaded;
create view cn_loaded as
  select cn.*, s.last_seen, s.last_status, p.reservoir_enabled, p.reservoir_percent, coalesce(p.traits, '{}') as traits,
         jsonb_build_object(
           'reserved', coalesce(p.reserved, false), 'reserved_reason', p.reserved_reason,
           'cordoned', coalesce(p.cordoned, false), 'cordoned_reason', p.cordoned_reason,
           'overprovision_cpu', p.overprovision_cpu, 'overprovision_ram', p.overprovision_ram,
           'overprovision_disk', p.overprovision_disk, 'fault_domain', p.fault_domain,
           'pinned_silo_uuid', p.pinned_silo_uuid, 'pinned_tenant_uuid', p.pinned_tenant_uuid, 'note', p.note,
           'labels', coalesce(p.labels, '{}')) as placement,
         array(select r.mac from boot_record r where r.server_uuid = cn.server_uuid order by r.mac) as bound_macs,
         (select coalesce(jsonb_agg(jsonb_build_object(
                   'id', k.id, 'claim_code', k.claim_code, 'expires_at', k.expires_at, 'hostname', k.hostname,
                   'admin_ip', host(k.admin_ip), 'serial', k.serial, 'macs', k.macs, 'source', k.source,
                   'registration_id', k.registration_id, 'poll_token_sha256', k.poll_token_sha256)
                   order by k.expires_at, k.id), '[]')
            from enrolment_claim k
           where k.server_uuid = cn.server_uuid and k.expires_at > (select berth_now())) as claims,
         s.agent_version
    from cn left join cn_signal s using (server_uuid) left join cn_placement p using (server_uuid);
