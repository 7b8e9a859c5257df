-- Returns whether the tenant {tenant_id} is not the default tenant of a silo.
create or replace function guard_tenant_is_no_default(args jsonb) returns boolean language sql volatile as $$
  select not exists (select from silo where default_tenant_id = (args->>'tenant_id')::uuid) $$;
