-- Returns whether the silo and the tenant of a pin exist and belong together: 'true', or the reason why not.
create or replace function guard_pin_holds(args jsonb) returns text language sql volatile as $$
  select coalesce(
    (select format('there is no silo %s', silo) from (select (args->>'pinned_silo_uuid')::uuid as silo) a
      where silo is not null and not exists (select from silo s where s.id = silo)),
    (select format('there is no tenant %s', tenant) from (select (args->>'pinned_tenant_uuid')::uuid as tenant) a
      where tenant is not null and not exists (select from tenant t where t.id = tenant)),
    (select format('tenant %s is not in silo %s', t.id, args->>'pinned_silo_uuid') from tenant t
      where t.id = (args->>'pinned_tenant_uuid')::uuid and t.silo_id <> (args->>'pinned_silo_uuid')::uuid),
    'true') $$;
