-- Takes {tenant_id, cpu, memory_bytes, disk_bytes, instances, defaults}. Returns the limit that these amounts would
-- exceed, or 'true' if they exceed no limit. The limits are in the tenant's quota, or in `defaults` if the tenant has
-- no quota. The caller must hold the lock quota:<tenant> exclusively. One statement with a cached plan compares all
-- limits. Slower functions find the name of the exceeded limit; they run only if a limit is exceeded, or if the tenant
-- has no row in tenant_usage yet.
create or replace function guard_tenant_quota_has_room(args jsonb) returns text language plpgsql volatile as $$
declare
  of_tenant constant uuid := (args->>'tenant_id')::uuid;
begin
  perform from tenant_usage u left join tenant_quota q on q.tenant_id = u.tenant_id
    where u.tenant_id = of_tenant
      and within_limit(u.cpu, args->>'cpu', q.tenant_id, q.cpu_limit, args->'defaults'->>'cpu_limit')
      and within_limit(u.memory_bytes, args->>'memory_bytes', q.tenant_id, q.memory_bytes,
                       args->'defaults'->>'memory_bytes')
      and within_limit(u.disk_bytes, args->>'disk_bytes', q.tenant_id, q.disk_bytes, args->'defaults'->>'disk_bytes')
      and within_limit(u.instances, args->>'instances', q.tenant_id, q.instance_limit,
                       args->'defaults'->>'instance_limit');
  if found then return 'true'; end if;
  return (select quota_broken(to_jsonb(l), to_jsonb(u), args)
            from (values (of_tenant)) w(id) left join tenant_usage u on u.tenant_id = w.id
           cross join lateral limits_of_tenant(w.id, args->'defaults') l);
end $$;
