-- Returns 'true' if nothing is in the tenant {tenant_id}, otherwise a text that names objects in it. The caller must
-- hold the tenant's lock exclusively.
create or replace function guard_tenant_is_empty(args jsonb) returns text language sql volatile as $$
  select coalesce(berth_named(array(
    (select format('project %s (%s)', name, id) from project where tenant_id = (args->>'tenant_id')::uuid limit 6)
    union all
    (select format('image %s (%s)', name, id) from image where tenant_id = (args->>'tenant_id')::uuid limit 6)
    union all
    (select format('ssh key %s (%s)', name, id) from ssh_key where tenant_id = (args->>'tenant_id')::uuid limit 6)
    union all
    (select format('identity provider %s', issuer_url) from tenant_idp where tenant_id = (args->>'tenant_id')::uuid limit 6)
    union all
    (select format('API key %s', id) from api_key where tenant_id = (args->>'tenant_id')::uuid limit 6)
    union all
    (select format('user %s (%s)', username, id) from user_account where tenant_id = (args->>'tenant_id')::uuid limit 6)
    limit 6)), 'true') $$;
