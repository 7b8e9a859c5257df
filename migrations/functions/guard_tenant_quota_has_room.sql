-- Returns the limit of a tenant's quota that {tenant_id, cpu, memory_bytes, disk_bytes, instances, defaults} would
-- exceed, or 'true' when nothing is found. The caller must hold the lock quota:<tenant> exclusively.
create or replace function guard_tenant_quota_has_room(args jsonb) returns text language sql volatile as $$
  select quota_broken(to_jsonb(l), to_jsonb(u), args)
    from (values ((args->>'tenant_id')::uuid)) w(id) left join tenant_usage u on u.tenant_id = w.id
   cross join lateral limits_of_tenant(w.id, args->'defaults') l $$;
