-- Returns 'true' if the node {server_uuid} has room for {cpu_units, ram_mb, disk_bytes}, otherwise the reason why not.
-- Locks the node's counters until the unit is written. The filters of src/lib/placement check the same rules when they
-- choose the node.
-- - A call with {grows}, or without cpu_units, is about the growth of an existing instance. Then the next two rules do
--   not apply, and the state of the node does not matter.
-- - {role} must match the node's role. The role cannot change during the check, because the caller and each change of
--   the role hold the lock cn:<id>.
-- - {tenant_id, silo_id} must match the node's pin, if it has one.
-- - If the growth adds vCPUs, {cpu} is the instance's number of vCPUs afterwards.
create or replace function guard_cn_has_room(args jsonb) returns text language plpgsql volatile as $$
declare
  of_cn  constant uuid := (args->>'server_uuid')::uuid;
  wanted record;
  node   record;
  pool   jsonb;
  room   double precision;
  threads double precision;
begin
  select coalesce((args->>'cpu_units')::bigint, 0) as cpu_units, coalesce((args->>'ram_mb')::bigint, 0) as ram_mb,
         coalesce((args->>'disk_bytes')::bigint, 0) as disk_bytes into wanted;
  for attempt in 1..2 loop
    select u.cpu_units, u.ram_mb, u.disk_bytes, c.state, c.role, s.last_seen, p.reserved, p.cordoned,
           p.pinned_tenant_uuid, p.pinned_silo_uuid, p.overprovision_cpu, p.overprovision_ram, p.overprovision_disk,
           k.report into node
      from cn_usage u join cn c using (server_uuid) left join cn_signal s using (server_uuid)
           left join cn_placement p using (server_uuid) left join cn_capacity k using (server_uuid)
     where u.server_uuid = of_cn for update of u;
    exit when found;
    insert into cn_usage (server_uuid) select server_uuid from cn where server_uuid = of_cn on conflict do nothing;
  end loop;
  if node.state is null then return 'it is gone'; end if;

  if wanted.cpu_units > 0 and not args ? 'grows' then
    if node.state <> 'approved' then return format('it is %s', node.state); end if;
    -- A node needs a heartbeat in the last 60 s (docs/limits.md).
    if node.last_seen is null or node.last_seen < berth_now() - interval '60 seconds' then
      return 'it was not seen lately';
    end if;
    if args ? 'role' and node.role not in (args->>'role', 'both') then
      return format('its role is %s', node.role);
    end if;
    if node.reserved then return 'an operator reserved it'; end if;
    if node.cordoned then return 'it is cordoned'; end if;
    if args ? 'tenant_id' and (node.pinned_tenant_uuid <> (args->>'tenant_id')::uuid
                               or node.pinned_silo_uuid <> (args->>'silo_id')::uuid) then
      return 'it is pinned to another silo or tenant';
    end if;
  end if;

  if node.report is null then return 'it has not reported its capacity'; end if;
  -- Overprovisioning shares processors between instances. Within one instance, each vCPU needs its own processor.
  threads := (node.report->>'cpu_threads_logical')::double precision;
  if wanted.cpu_units > 0 and threads * 100 < coalesce((args->>'cpu')::bigint * 100, wanted.cpu_units) then
    return format('it has %s processor%s, %s', threads, case when threads = 1 then '' else 's' end,
                  coalesce('and cpu would be ' || (args->>'cpu'), wanted.cpu_units / 100 || ' wanted'));
  end if;
  -- The default overprovisioning factors are 4.0 for CPU, 1.0 for memory and 1.0 for disks (docs/limits.md).
  room := threads * 100 * coalesce(node.overprovision_cpu, 4) - node.cpu_units;
  if wanted.cpu_units > 0 and room < wanted.cpu_units then
    return format('%s CPU units left, %s wanted', greatest(0, floor(room)), wanted.cpu_units);
  end if;
  room := (node.report->>'ram_total_mb')::double precision * coalesce(node.overprovision_ram, 1) - node.ram_mb;
  if wanted.ram_mb > 0 and room < wanted.ram_mb then
    return format('%s MiB of memory left, %s wanted', greatest(0, floor(room)), wanted.ram_mb);
  end if;
  if wanted.disk_bytes > 0 then
    select p into pool from jsonb_array_elements(node.report->'zpools') p where p->>'name' = 'zones' limit 1;
    if pool is null then return 'it has no pool zones'; end if;
    -- First computes a lower bound of the room without reading the disks: it counts every disk as not created yet.
    room := least((pool->>'total_bytes')::double precision, (pool->>'free_bytes')::double precision)
            * coalesce(node.overprovision_disk, 1) - node.disk_bytes;
    if room >= wanted.disk_bytes then return 'true'; end if;
    -- Earlier units of this wave may have taken disk space of the node. The counter node.disk_bytes includes their
    -- disks, but the rows of these disks are not written yet.
    room := least(
      (pool->>'total_bytes')::double precision * coalesce(node.overprovision_disk, 1) - node.disk_bytes,
      (pool->>'free_bytes')::double precision * coalesce(node.overprovision_disk, 1)
        - greatest(berth_unmade_bytes(of_cn), node.disk_bytes - berth_made_bytes(of_cn)));
    if room < wanted.disk_bytes then
      return format('%s bytes of disk left, %s wanted', greatest(0, floor(room)), wanted.disk_bytes);
    end if;
  end if;
  return 'true';
end $$;
