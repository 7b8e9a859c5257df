-- Returns the actors of kind $1 that still have no row, as indexes in the arrays $2 to $5.
-- - $1: the kind
-- - $2 to $5: the kinds, ids, incarnations and versions of the call's actors
-- - $6 to $8: the table of the kind, its key column and the type of the key column
-- Printed by `deno task schema`: do not edit. See berth_statement.sql.
create or replace function berth_absent(text, text[], text[], uuid[], bigint[], text, text, text) returns bigint[]
language plpgsql volatile as $$
declare
  places bigint[];
begin
  case $1
  when 'api-key' then
    with wanted as materialized (
      select a.n, a.id::uuid as id
        from unnest($2, $3, $5) with ordinality a(kind, id, version, n) where a.kind = $1 and a.version = 0)
    select array_agg(w.n) into places from wanted w where not exists (select from api_key t where t.id = w.id);
  when 'boot-policy' then
    with wanted as materialized (
      select a.n, a.id::text as id
        from unnest($2, $3, $5) with ordinality a(kind, id, version, n) where a.kind = $1 and a.version = 0)
    select array_agg(w.n) into places from wanted w where not exists (select from boot_policy t where t.id = w.id);
  when 'boot-record' then
    with wanted as materialized (
      select a.n, a.id::text as id
        from unnest($2, $3, $5) with ordinality a(kind, id, version, n) where a.kind = $1 and a.version = 0)
    select array_agg(w.n) into places from wanted w where not exists (select from boot_record t where t.mac = w.id);
  when 'boot-roster' then
    with wanted as materialized (
      select a.n, a.id::text as id
        from unnest($2, $3, $5) with ordinality a(kind, id, version, n) where a.kind = $1 and a.version = 0)
    select array_agg(w.n) into places from wanted w where not exists (select from boot_roster t where t.id = w.id);
  when 'cn' then
    with wanted as materialized (
      select a.n, a.id::uuid as id
        from unnest($2, $3, $5) with ordinality a(kind, id, version, n) where a.kind = $1 and a.version = 0)
    select array_agg(w.n) into places from wanted w where not exists (select from cn t where t.server_uuid = w.id);
  when 'console-session' then
    with wanted as materialized (
      select a.n, a.id::uuid as id
        from unnest($2, $3, $5) with ordinality a(kind, id, version, n) where a.kind = $1 and a.version = 0)
    select array_agg(w.n) into places from wanted w where not exists (select from console_session t where t.id = w.id);
  when 'enrolment-claim' then
    with wanted as materialized (
      select a.n, a.id::uuid as id
        from unnest($2, $3, $5) with ordinality a(kind, id, version, n) where a.kind = $1 and a.version = 0)
    select array_agg(w.n) into places from wanted w where not exists (select from enrolment_claim t where t.id = w.id);
  when 'external-subnet' then
    with wanted as materialized (
      select a.n, a.id::uuid as id
        from unnest($2, $3, $5) with ordinality a(kind, id, version, n) where a.kind = $1 and a.version = 0)
    select array_agg(w.n) into places from wanted w where not exists (select from external_subnet t where t.id = w.id);
  when 'firewall-rule' then
    with wanted as materialized (
      select a.n, a.id::uuid as id
        from unnest($2, $3, $5) with ordinality a(kind, id, version, n) where a.kind = $1 and a.version = 0)
    select array_agg(w.n) into places from wanted w where not exists (select from firewall_rule t where t.id = w.id);
  when 'floating-ip' then
    with wanted as materialized (
      select a.n, a.id::uuid as id
        from unnest($2, $3, $5) with ordinality a(kind, id, version, n) where a.kind = $1 and a.version = 0)
    select array_agg(w.n) into places from wanted w where not exists (select from floating_ip t where t.id = w.id);
  when 'idp' then
    with wanted as materialized (
      select a.n, a.id::uuid as id
        from unnest($2, $3, $5) with ordinality a(kind, id, version, n) where a.kind = $1 and a.version = 0)
    select array_agg(w.n) into places from wanted w where not exists (select from tenant_idp t where t.tenant_id = w.id);
  when 'image' then
    with wanted as materialized (
      select a.n, a.id::uuid as id
        from unnest($2, $3, $5) with ordinality a(kind, id, version, n) where a.kind = $1 and a.version = 0)
    select array_agg(w.n) into places from wanted w where not exists (select from image t where t.id = w.id);
  when 'image-upload' then
    with wanted as materialized (
      select a.n, a.id::uuid as id
        from unnest($2, $3, $5) with ordinality a(kind, id, version, n) where a.kind = $1 and a.version = 0)
    select array_agg(w.n) into places from wanted w where not exists (select from image_upload t where t.id = w.id);
  when 'instance' then
    with wanted as materialized (
      select a.n, a.id::uuid as id
        from unnest($2, $3, $5) with ordinality a(kind, id, version, n) where a.kind = $1 and a.version = 0)
    select array_agg(w.n) into places from wanted w where not exists (select from instance t where t.id = w.id);
  when 'job' then
    with wanted as materialized (
      select a.n, a.id::uuid as id
        from unnest($2, $3, $5) with ordinality a(kind, id, version, n) where a.kind = $1 and a.version = 0)
    select array_agg(w.n) into places from wanted w where not exists (select from job t where t.id = w.id);
  when 'nat-gateway' then
    with wanted as materialized (
      select a.n, a.id::uuid as id
        from unnest($2, $3, $5) with ordinality a(kind, id, version, n) where a.kind = $1 and a.version = 0)
    select array_agg(w.n) into places from wanted w where not exists (select from nat_gateway t where t.id = w.id);
  when 'network-pool' then
    with wanted as materialized (
      select a.n, a.id::uuid as id
        from unnest($2, $3, $5) with ordinality a(kind, id, version, n) where a.kind = $1 and a.version = 0)
    select array_agg(w.n) into places from wanted w where not exists (select from network_pool t where t.id = w.id);
  when 'nic-tag' then
    with wanted as materialized (
      select a.n, a.id::uuid as id
        from unnest($2, $3, $5) with ordinality a(kind, id, version, n) where a.kind = $1 and a.version = 0)
    select array_agg(w.n) into places from wanted w where not exists (select from nic_tag t where t.id = w.id);
  when 'placement-group' then
    with wanted as materialized (
      select a.n, a.id::uuid as id
        from unnest($2, $3, $5) with ordinality a(kind, id, version, n) where a.kind = $1 and a.version = 0)
    select array_agg(w.n) into places from wanted w where not exists (select from placement_group t where t.id = w.id);
  when 'port-forward' then
    with wanted as materialized (
      select a.n, a.id::uuid as id
        from unnest($2, $3, $5) with ordinality a(kind, id, version, n) where a.kind = $1 and a.version = 0)
    select array_agg(w.n) into places from wanted w where not exists (select from port_forward t where t.id = w.id);
  when 'project' then
    with wanted as materialized (
      select a.n, a.id::uuid as id
        from unnest($2, $3, $5) with ordinality a(kind, id, version, n) where a.kind = $1 and a.version = 0)
    select array_agg(w.n) into places from wanted w where not exists (select from project t where t.id = w.id);
  when 'quota' then
    with wanted as materialized (
      select a.n, a.id::uuid as id
        from unnest($2, $3, $5) with ordinality a(kind, id, version, n) where a.kind = $1 and a.version = 0)
    select array_agg(w.n) into places from wanted w where not exists (select from quota t where t.project_id = w.id);
  when 'route' then
    with wanted as materialized (
      select a.n, a.id::uuid as id
        from unnest($2, $3, $5) with ordinality a(kind, id, version, n) where a.kind = $1 and a.version = 0)
    select array_agg(w.n) into places from wanted w where not exists (select from route t where t.id = w.id);
  when 'route-table' then
    with wanted as materialized (
      select a.n, a.id::uuid as id
        from unnest($2, $3, $5) with ordinality a(kind, id, version, n) where a.kind = $1 and a.version = 0)
    select array_agg(w.n) into places from wanted w where not exists (select from route_table t where t.id = w.id);
  when 'saga' then
    with wanted as materialized (
      select a.n, a.id::uuid as id
        from unnest($2, $3, $5) with ordinality a(kind, id, version, n) where a.kind = $1 and a.version = 0)
    select array_agg(w.n) into places from wanted w where not exists (select from saga t where t.id = w.id);
  when 'session' then
    with wanted as materialized (
      select a.n, a.id::uuid as id
        from unnest($2, $3, $5) with ordinality a(kind, id, version, n) where a.kind = $1 and a.version = 0)
    select array_agg(w.n) into places from wanted w where not exists (select from session t where t.id = w.id);
  when 'setting' then
    with wanted as materialized (
      select a.n, a.id::text as id
        from unnest($2, $3, $5) with ordinality a(kind, id, version, n) where a.kind = $1 and a.version = 0)
    select array_agg(w.n) into places from wanted w where not exists (select from setting t where t.key = w.id);
  when 'silo' then
    with wanted as materialized (
      select a.n, a.id::uuid as id
        from unnest($2, $3, $5) with ordinality a(kind, id, version, n) where a.kind = $1 and a.version = 0)
    select array_agg(w.n) into places from wanted w where not exists (select from silo t where t.id = w.id);
  when 'site' then
    with wanted as materialized (
      select a.n, a.id::text as id
        from unnest($2, $3, $5) with ordinality a(kind, id, version, n) where a.kind = $1 and a.version = 0)
    select array_agg(w.n) into places from wanted w where not exists (select from site t where t.id = w.id);
  when 'ssh-key' then
    with wanted as materialized (
      select a.n, a.id::uuid as id
        from unnest($2, $3, $5) with ordinality a(kind, id, version, n) where a.kind = $1 and a.version = 0)
    select array_agg(w.n) into places from wanted w where not exists (select from ssh_key t where t.id = w.id);
  when 'staging' then
    with wanted as materialized (
      select a.n, a.id::uuid as id
        from unnest($2, $3, $5) with ordinality a(kind, id, version, n) where a.kind = $1 and a.version = 0)
    select array_agg(w.n) into places from wanted w where not exists (select from staging t where t.staged_by = w.id);
  when 'subnet' then
    with wanted as materialized (
      select a.n, a.id::uuid as id
        from unnest($2, $3, $5) with ordinality a(kind, id, version, n) where a.kind = $1 and a.version = 0)
    select array_agg(w.n) into places from wanted w where not exists (select from subnet t where t.id = w.id);
  when 'tenant' then
    with wanted as materialized (
      select a.n, a.id::uuid as id
        from unnest($2, $3, $5) with ordinality a(kind, id, version, n) where a.kind = $1 and a.version = 0)
    select array_agg(w.n) into places from wanted w where not exists (select from tenant t where t.id = w.id);
  when 'tenant-quota' then
    with wanted as materialized (
      select a.n, a.id::uuid as id
        from unnest($2, $3, $5) with ordinality a(kind, id, version, n) where a.kind = $1 and a.version = 0)
    select array_agg(w.n) into places from wanted w where not exists (select from tenant_quota t where t.tenant_id = w.id);
  when 'user' then
    with wanted as materialized (
      select a.n, a.id::uuid as id
        from unnest($2, $3, $5) with ordinality a(kind, id, version, n) where a.kind = $1 and a.version = 0)
    select array_agg(w.n) into places from wanted w where not exists (select from user_account t where t.id = w.id);
  when 'vpc' then
    with wanted as materialized (
      select a.n, a.id::uuid as id
        from unnest($2, $3, $5) with ordinality a(kind, id, version, n) where a.kind = $1 and a.version = 0)
    select array_agg(w.n) into places from wanted w where not exists (select from vpc t where t.id = w.id);
  when 'webhook' then
    with wanted as materialized (
      select a.n, a.id::uuid as id
        from unnest($2, $3, $5) with ordinality a(kind, id, version, n) where a.kind = $1 and a.version = 0)
    select array_agg(w.n) into places from wanted w where not exists (select from webhook t where t.id = w.id);
  else
    execute berth_statement('absent', $6, array[$7], $8) into places using $1, $2, $3, $4, $5;
  end case;
  return places;
end $$;
