-- Adds the amounts {cpu_units, ram_mb, disk_bytes, instances} to the counted use of the node {server_uuid}; negative
-- amounts subtract. The check constraints refuse a use below zero, which is a bug of the caller.
create or replace function effect_cn_use(args jsonb) returns void language plpgsql volatile as $$
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
