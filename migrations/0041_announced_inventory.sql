-- What an authenticated booter announced about a machine, separate from what a registration reports. Layout proposals,
-- and service tags in the allowlist of the boot policy, use only the announced data. `serial` is the serial number in
-- the record's sysinfo. Lists show `serial`, because they do not read sysinfo.
alter table cn add column announced_sysinfo jsonb, add column announced_macs text[] not null default '{}',
  add column serial text;
update cn set serial = nullif(trim(case when jsonb_typeof(sysinfo->'Serial Number') = 'string'
                                        then sysinfo->>'Serial Number' end), ''),
       -- In existing rows, the inventory came from a booter if the machine is in setup, has a disk layout or never
       -- registered.
       announced_sysinfo = case when from_booter then sysinfo end,
       announced_macs = case when from_booter then macs else '{}' end
  from (select server_uuid as of_node, state in ('awaiting_setup', 'setting_up') or disk_layout is not null
                 or (registration_id is null and state <> 'pending') as from_booter from cn) source
 where of_node = server_uuid;
drop index cn_by_mac;
create index cn_by_announced_mac on cn using gin (announced_macs);

-- The view also has the claims that have not expired, ordered by expiry, without their sysinfo.
drop view cn_loaded;
create view cn_loaded as
  select cn.*, s.last_seen, s.last_status, p.reservoir_enabled, p.reservoir_percent, coalesce(p.traits, '{}') as traits,
         jsonb_build_object(
           'reserved', coalesce(p.reserved, false), 'reserved_reason', p.reserved_reason,
           'cordoned', coalesce(p.cordoned, false), 'cordoned_reason', p.cordoned_reason,
           'overprovision_cpu', p.overprovision_cpu, 'overprovision_ram', p.overprovision_ram,
           'overprovision_disk', p.overprovision_disk, 'fault_domain', p.fault_domain,
           'pinned_silo_uuid', p.pinned_silo_uuid, 'pinned_tenant_uuid', p.pinned_tenant_uuid, 'note', p.note) as placement,
         array(select r.mac from boot_record r where r.server_uuid = cn.server_uuid order by r.mac) as bound_macs,
         (select coalesce(jsonb_agg(jsonb_build_object(
                   'id', k.id, 'claim_code', k.claim_code, 'expires_at', k.expires_at, 'hostname', k.hostname,
                   'admin_ip', host(k.admin_ip), 'serial', k.serial, 'macs', k.macs, 'source', k.source,
                   'registration_id', k.registration_id, 'poll_token_sha256', k.poll_token_sha256)
                   order by k.expires_at, k.id), '[]')
            from enrolment_claim k
           where k.server_uuid = cn.server_uuid and k.expires_at > (select berth_now())) as claims
    from cn left join cn_signal s using (server_uuid) left join cn_placement p using (server_uuid);
