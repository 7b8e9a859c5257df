-- Returns 'true' if no object refers to the silo {silo_id} or its default tenant, otherwise a text that names such an
-- object. The caller must hold the silo's lock exclusively.
create or replace function guard_silo_is_not_named(args jsonb) returns text language sql volatile as $$
  select coalesce(
    (select format('external subnet %s (%s)', name, id) from external_subnet
      where (args->>'silo_id')::uuid = any(owner_silos) limit 1),
    (select format('network pool %s (%s)', name, id) from network_pool
      where (args->>'silo_id')::uuid = any(owner_silos) limit 1),
    (select format('the pin of node %s', p.server_uuid) from cn_placement p
      where p.pinned_silo_uuid = (args->>'silo_id')::uuid
         or p.pinned_tenant_uuid = (select default_tenant_id from silo where id = (args->>'silo_id')::uuid) limit 1),
    'true') $$;
