-- Returns the limits in force for a tenant: all limits of its own quota, or, without a quota, the defaults {cpu_limit,
-- memory_bytes, disk_bytes, instance_limit}. Null is unlimited. `own` is true if the quota applies.
create or replace function limits_of_tenant(tenant uuid, defaults jsonb,
  out cpu bigint, out memory_bytes bigint, out disk_bytes bigint, out instances bigint, out own boolean)
language sql stable as $$
  select case when q.tenant_id is null then (defaults->>'cpu_limit')::bigint else q.cpu_limit end,
         case when q.tenant_id is null then (defaults->>'memory_bytes')::bigint else q.memory_bytes end,
         case when q.tenant_id is null then (defaults->>'disk_bytes')::bigint else q.disk_bytes end,
         case when q.tenant_id is null then (defaults->>'instance_limit')::bigint else q.instance_limit end,
         q.tenant_id is not null
    from (values (tenant)) w(id) left join tenant_quota q on q.tenant_id = w.id $$;
