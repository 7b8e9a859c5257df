-- Placement of instances on nodes (docs/instances.md, "Placement"): the settings of operators, and counters of what the
-- instances of a node use. The unit that creates an instance takes its room under the lock cn:<id>, so two creates
-- cannot both take the last room. The unit that deletes the record returns the room.
alter table cn_placement
  add column reserved           boolean not null default false,
  add column reserved_reason    text,
  add column cordoned           boolean not null default false,
  add column cordoned_reason    text,
  -- Factors of the node's capacity. Null: the cluster's default.
  add column overprovision_cpu  double precision check (overprovision_cpu > 0),
  add column overprovision_ram  double precision check (overprovision_ram > 0),
  add column overprovision_disk double precision check (overprovision_disk > 0),
  add column fault_domain       text,
  -- A pin stays when its tenant is deleted. Then the node gets no new instances until an operator changes the pin.
  add column pinned_silo_uuid   uuid,
  add column pinned_tenant_uuid uuid,
  add column note               text,
  add check (reserved or reserved_reason is null),
  add check (cordoned or cordoned_reason is null);

-- What the instances of a node use, in every state: a stopped or failed instance keeps its room.
create table cn_usage (
  server_uuid uuid primary key references cn (server_uuid) on delete cascade,
  cpu_units   bigint not null default 0 check (cpu_units >= 0),
  ram_mb      bigint not null default 0 check (ram_mb >= 0),
  disk_bytes  bigint not null default 0 check (disk_bytes >= 0),
  instances   bigint not null default 0 check (instances >= 0)
) with (fillfactor = 50);

-- Finds the disks that the node has not created yet, or not at the requested size. Few disks are in this index.
create index disk_unmade on disk (instance_id) where applied_bytes is null or applied_bytes < size_bytes;

drop view cn_loaded;
create view cn_loaded as
  select cn.*, s.last_seen, s.last_status, p.reservoir_enabled, p.reservoir_percent, coalesce(p.traits, '{}') as traits,
         jsonb_build_object(
           'reserved', coalesce(p.reserved, false), 'reserved_reason', p.reserved_reason,
           'cordoned', coalesce(p.cordoned, false), 'cordoned_reason', p.cordoned_reason,
           'overprovision_cpu', p.overprovision_cpu, 'overprovision_ram', p.overprovision_ram,
           'overprovision_disk', p.overprovision_disk, 'fault_domain', p.fault_domain,
           'pinned_silo_uuid', p.pinned_silo_uuid, 'pinned_tenant_uuid', p.pinned_tenant_uuid, 'note', p.note) as placement,
         array(select r.mac from boot_record r where r.server_uuid = cn.server_uuid order by r.mac) as bound_macs
    from cn left join cn_signal s using (server_uuid) left join cn_placement p using (server_uuid);

-- The bytes of a node's disks that the node has not applied yet.
create function berth_unmade_bytes(of_cn uuid) returns bigint language sql stable as $$
  select coalesce(sum(d.size_bytes - coalesce(d.applied_bytes, 0)), 0)::bigint
    from instance i join disk d on d.instance_id = i.id
   where i.host_cn_uuid = of_cn and (d.applied_bytes is null or d.applied_bytes < d.size_bytes) $$;

-- Returns 'true' if the node {server_uuid} has room for {cpu_units, ram_mb, disk_bytes}, or the reason why not. The
-- server's placement filters apply the same rules. The counters stay locked until the end of the commit. If {tenant_id,
-- silo_id} are given, the function compares them with the node's pin. Every instance has a CPU, so a call without
-- cpu_units is for something that is on the node already, such as a disk that grows. Then the function does not check
-- the node's state, heartbeat, reservation, cordon and pin.
create function guard_cn_has_room(args jsonb) returns text language plpgsql volatile as $$
declare
  of_cn  constant uuid := (args->>'server_uuid')::uuid;
  wanted record;
  node   record;
  used   cn_usage;
  pool   jsonb;
  room   double precision;
begin
  select coalesce((args->>'cpu_units')::bigint, 0) as cpu_units, coalesce((args->>'ram_mb')::bigint, 0) as ram_mb,
         coalesce((args->>'disk_bytes')::bigint, 0) as disk_bytes into wanted;
  insert into cn_usage (server_uuid) select server_uuid from cn where server_uuid = of_cn on conflict do nothing;
  select * into used from cn_usage where server_uuid = of_cn for update;
  if not found then return 'it is gone'; end if;
  select c.state, s.last_seen, p.*, k.report into node
    from cn c left join cn_signal s using (server_uuid) left join cn_placement p using (server_uuid)
              left join cn_capacity k using (server_uuid) where c.server_uuid = of_cn;

  if wanted.cpu_units > 0 then
    if node.state <> 'approved' then return format('it is %s', node.state); end if;
    -- Placement requires a heartbeat in the last 60 seconds.
    if node.last_seen is null or node.last_seen < berth_now() - interval '60 seconds' then
      return 'it was not seen lately';
    end if;
    if node.reserved then return 'an operator reserved it'; end if;
    if node.cordoned then return 'it is cordoned'; end if;
    if args ? 'tenant_id' and (node.pinned_tenant_uuid <> (args->>'tenant_id')::uuid
                               or node.pinned_silo_uuid <> (args->>'silo_id')::uuid) then
      return 'it is pinned to somebody else';
    end if;
  end if;

  if node.report is null then return 'it has not reported its capacity'; end if;
  -- The default overprovisioning factors are 4.0 for CPU, 1.0 for RAM and 1.0 for disks.
  room := (node.report->>'cpu_threads_logical')::double precision * 100 * coalesce(node.overprovision_cpu, 4)
          - used.cpu_units;
  if wanted.cpu_units > 0 and room < wanted.cpu_units then
    return format('%s CPU units left, %s wanted', greatest(0, floor(room)), wanted.cpu_units);
  end if;
  room := (node.report->>'ram_total_mb')::double precision * coalesce(node.overprovision_ram, 1) - used.ram_mb;
  if wanted.ram_mb > 0 and room < wanted.ram_mb then
    return format('%s MiB of memory left, %s wanted', greatest(0, floor(room)), wanted.ram_mb);
  end if;
  if wanted.disk_bytes > 0 then
    select p into pool from jsonb_array_elements(node.report->'zpools') p where p->>'name' = 'zones' limit 1;
    if pool is null then return 'it has no pool zones'; end if;
    room := least(
      (pool->>'total_bytes')::double precision * coalesce(node.overprovision_disk, 1) - used.disk_bytes,
      (pool->>'free_bytes')::double precision * coalesce(node.overprovision_disk, 1) - berth_unmade_bytes(of_cn));
    if room < wanted.disk_bytes then
      return format('%s bytes of disk left, %s wanted', greatest(0, floor(room)), wanted.disk_bytes);
    end if;
  end if;
  return 'true';
end $$;

-- Adds to the counters of a node {server_uuid, cpu_units, ram_mb, disk_bytes, instances}. Negative amounts subtract. A
-- counter below zero is a bug in the caller, and violates a check of the table.
create function effect_cn_use(args jsonb) returns void language plpgsql volatile as $$
begin
  for attempt in 1..2 loop
    update cn_usage set cpu_units = cpu_units + coalesce((args->>'cpu_units')::bigint, 0),
           ram_mb = ram_mb + coalesce((args->>'ram_mb')::bigint, 0),
           disk_bytes = disk_bytes + coalesce((args->>'disk_bytes')::bigint, 0),
           instances = instances + coalesce((args->>'instances')::bigint, 0)
     where server_uuid = (args->>'server_uuid')::uuid;
    exit when found;
    insert into cn_usage (server_uuid) values ((args->>'server_uuid')::uuid) on conflict do nothing;
  end loop;
end $$;

-- Returns 'true' if the silo and the tenant of a pin exist and the tenant belongs to the silo, or else what is wrong.
create function guard_pin_holds(args jsonb) returns text language sql volatile as $$
  select coalesce(
    (select format('there is no silo %s', silo) from (select (args->>'pinned_silo_uuid')::uuid as silo) a
      where silo is not null and not exists (select from silo s where s.id = silo)),
    (select format('there is no tenant %s', tenant) from (select (args->>'pinned_tenant_uuid')::uuid as tenant) a
      where tenant is not null and not exists (select from tenant t where t.id = tenant)),
    (select format('tenant %s is not in silo %s', t.id, args->>'pinned_silo_uuid') from tenant t
      where t.id = (args->>'pinned_tenant_uuid')::uuid and t.silo_id <> (args->>'pinned_silo_uuid')::uuid),
    'true') $$;
