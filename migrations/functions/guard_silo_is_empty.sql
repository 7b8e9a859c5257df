-- Returns 'true' if nothing is in the silo {silo_id}, otherwise a text that names objects in it. The default tenant
-- does not count. The caller must hold the silo's lock exclusively.
create or replace function guard_silo_is_empty(args jsonb) returns text language sql volatile as $$
  select coalesce(berth_named(array(
    (select format('tenant %s (%s)', t.name, t.id) from tenant t
      where t.silo_id = (args->>'silo_id')::uuid
        and not exists (select from silo s where s.default_tenant_id = t.id) limit 6)
    union all
    (select format('image %s (%s)', name, id) from image where silo_id = (args->>'silo_id')::uuid limit 6)
    union all
    (select format('ssh key %s (%s)', name, id) from ssh_key where silo_id = (args->>'silo_id')::uuid limit 6)
    limit 6)), 'true') $$;
