-- Adds to the counted use of a project and of its tenant; negative amounts subtract.
create or replace function effect_quota_use(args jsonb) returns void language plpgsql volatile as $$
declare
  of_tenant uuid := (select p.tenant_id from project p where p.id = (args->>'project_id')::uuid);
begin
  update project_usage set cpu = cpu + coalesce((args->>'cpu')::bigint, 0),
         memory_bytes = memory_bytes + coalesce((args->>'memory_bytes')::bigint, 0),
         disk_bytes = disk_bytes + coalesce((args->>'disk_bytes')::bigint, 0),
         instances = instances + coalesce((args->>'instances')::bigint, 0)
   where project_id = (args->>'project_id')::uuid;
  update tenant_usage set cpu = cpu + coalesce((args->>'cpu')::bigint, 0),
         memory_bytes = memory_bytes + coalesce((args->>'memory_bytes')::bigint, 0),
         disk_bytes = disk_bytes + coalesce((args->>'disk_bytes')::bigint, 0),
         instances = instances + coalesce((args->>'instances')::bigint, 0)
   where tenant_id = of_tenant;
  -- A server of the previous release creates tenants without a row in tenant_usage.
  if not found then
    insert into tenant_usage
      select of_tenant, sum(u.cpu), sum(u.memory_bytes), sum(u.disk_bytes), sum(u.instances)
        from project p join project_usage u on u.project_id = p.id where p.tenant_id = of_tenant
      having count(*) > 0;
  end if;
end $$;
