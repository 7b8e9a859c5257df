-- Returns the limits in force for a tenant: the limits of its quota, or the defaults. See limits_in_force.
create or replace function limits_of_tenant(tenant uuid, defaults jsonb,
  out cpu bigint, out memory_bytes bigint, out disk_bytes bigint, out instances bigint, out own boolean)
language sql stable as $$
  select l.* from limits_in_force((select to_jsonb(q) from tenant_quota q where q.tenant_id = tenant), defaults) l $$;
