-- Locks the actors of kind $1 with the given versions, except locked rows. Returns their indexes in the arrays.
-- - $1: the kind
-- - $2 to $5: the kinds, ids, incarnations and versions of the call's actors
-- - $6 to $8: the table of the kind, its key column and the type of the key column
-- Printed by `deno task schema`: do not edit. See berth_statement.sql.
create or replace function berth_held(text, text[], text[], uuid[], bigint[], text, text, text) returns bigint[]
language plpgsql volatile as $$
declare
  places bigint[];
begin
  case $1
  when 'api-key' then
    with wanted as materialized (
      select a.n, a.id::uuid as id, a.incarnation, a.version
        from unnest($2, $3, $4, $5) with ordinality a(kind, id, incarnation, version, n)
       where a.kind = $1 and a.version > 0)
    select array_agg(h.n) into places from (
      select w.n from wanted w join api_key t on t.id = w.id
       where t.version = w.version and t.incarnation = w.incarnation for update of t skip locked) h;
  when 'boot-policy' then
    with wanted as materialized (
      select a.n, a.id::text as id, a.incarnation, a.version
        from unnest($2, $3, $4, $5) with ordinality a(kind, id, incarnation, version, n)
       where a.kind = $1 and a.version > 0)
    select array_agg(h.n) into places from (
      select w.n from wanted w join boot_policy t on t.id = w.id
       where t.version = w.version and t.incarnation = w.incarnation for update of t skip locked) h;
  when 'boot-record' then
    with wanted as materialized (
      select a.n, a.id::text as id, a.incarnation, a.version
        from unnest($2, $3, $4, $5) with ordinality a(kind, id, incarnation, version, n)
       where a.kind = $1 and a.version > 0)
    select array_agg(h.n) into places from (
      select w.n from wanted w join boot_record t on t.mac = w.id
       where t.version = w.version and t.incarnation = w.incarnation for update of t skip locked) h;
  when 'boot-roster' then
    with wanted as materialized (
      select a.n, a.id::text as id, a.incarnation, a.version
        from unnest($2, $3, $4, $5) with ordinality a(kind, id, incarnation, version, n)
       where a.kind = $1 and a.version > 0)
    select array_agg(h.n) into places from (
      select w.n from wanted w join boot_roster t on t.id = w.id
       where t.version = w.version and t.incarnation = w.incarnation for update of t skip locked) h;
  when 'cn' then
    with wanted as materialized (
      select a.n, a.id::uuid as id, a.incarnation, a.version
        from unnest($2, $3, $4, $5) with ordinality a(kind, id, incarnation, version, n)
       where a.kind = $1 and a.version > 0)
    select array_agg(h.n) into places from (
      select w.n from wanted w join cn t on t.server_uuid = w.id
       where t.version = w.version and t.incarnation = w.incarnation for update of t skip locked) h;
  when 'console-session' then
    with wanted as materialized (
      select a.n, a.id::uuid as id, a.incarnation, a.version
        from unnest($2, $3, $4, $5) with ordinality a(kind, id, incarnation, version, n)
       where a.kind = $1 and a.version > 0)
    select array_agg(h.n) into places from (
      select w.n from wanted w join console_session t on t.id = w.id
       where t.version = w.version and t.incarnation = w.incarnation for update of t skip locked) h;
  when 'enrolment-claim' then
    with wanted as materialized (
      select a.n, a.id::uuid as id, a.incarnation, a.version
        from unnest($2, $3, $4, $5) with ordinality a(kind, id, incarnation, version, n)
       where a.kind = $1 and a.version > 0)
    select array_agg(h.n) into places from (
      select w.n from wanted w join enrolment_claim t on t.id = w.id
       where t.version = w.version and t.incarnation = w.incarnation for update of t skip locked) h;
  when 'external-subnet' then
    with wanted as materialized (
      select a.n, a.id::uuid as id, a.incarnation, a.version
        from unnest($2, $3, $4, $5) with ordinality a(kind, id, incarnation, version, n)
       where a.kind = $1 and a.version > 0)
    select array_agg(h.n) into places from (
      select w.n from wanted w join external_subnet t on t.id = w.id
       where t.version = w.version and t.incarnation = w.incarnation for update of t skip locked) h;
  when 'firewall-rule' then
    with wanted as materialized (
      select a.n, a.id::uuid as id, a.incarnation, a.version
        from unnest($2, $3, $4, $5) with ordinality a(kind, id, incarnation, version, n)
       where a.kind = $1 and a.version > 0)
    select array_agg(h.n) into places from (
      select w.n from wanted w join firewall_rule t on t.id = w.id
       where t.version = w.version and t.incarnation = w.incarnation for update of t skip locked) h;
  when 'floating-ip' then
    with wanted as materialized (
      select a.n, a.id::uuid as id, a.incarnation, a.version
        from unnest($2, $3, $4, $5) with ordinality a(kind, id, incarnation, version, n)
       where a.kind = $1 and a.version > 0)
    select array_agg(h.n) into places from (
      select w.n from wanted w join floating_ip t on t.id = w.id
       where t.version = w.version and t.incarnation = w.incarnation for update of t skip locked) h;
  when 'idp' then
    with wanted as materialized (
      select a.n, a.id::uuid as id, a.incarnation, a.version
        from unnest($2, $3, $4, $5) with ordinality a(kind, id, incarnation, version, n)
       where a.kind = $1 and a.version > 0)
    select array_agg(h.n) into places from (
      select w.n from wanted w join tenant_idp t on t.tenant_id = w.id
       where t.version = w.version and t.incarnation = w.incarnation for update of t skip locked) h;
  when 'image' then
    with wanted as materialized (
      select a.n, a.id::uuid as id, a.incarnation, a.version
        from unnest($2, $3, $4, $5) with ordinality a(kind, id, incarnation, version, n)
       where a.kind = $1 and a.version > 0)
    select array_agg(h.n) into places from (
      select w.n from wanted w join image t on t.id = w.id
       where t.version = w.version and t.incarnation = w.incarnation for update of t skip locked) h;
  when 'image-upload' then
    with wanted as materialized (
      select a.n, a.id::uuid as id, a.incarnation, a.version
        from unnest($2, $3, $4, $5) with ordinality a(kind, id, incarnation, version, n)
       where a.kind = $1 and a.version > 0)
    select array_agg(h.n) into places from (
      select w.n from wanted w join image_upload t on t.id = w.id
       where t.version = w.version and t.incarnation = w.incarnation for update of t skip locked) h;
  when 'instance' then
    with wanted as materialized (
      select a.n, a.id::uuid as id, a.incarnation, a.version
        from unnest($2, $3, $4, $5) with ordinality a(kind, id, incarnation, version, n)
       where a.kind = $1 and a.version > 0)
    select array_agg(h.n) into places from (
      select w.n from wanted w join instance t on t.id = w.id
       where t.version = w.version and t.incarnation = w.incarnation for update of t skip locked) h;
  when 'job' then
    with wanted as materialized (
      select a.n, a.id::uuid as id, a.incarnation, a.version
        from unnest($2, $3, $4, $5) with ordinality a(kind, id, incarnation, version, n)
       where a.kind = $1 and a.version > 0)
    select array_agg(h.n) into places from (
      select w.n from wanted w join job t on t.id = w.id
       where t.version = w.version and t.incarnation = w.incarnation for update of t skip locked) h;
  when 'nat-gateway' then
    with wanted as materialized (
      select a.n, a.id::uuid as id, a.incarnation, a.version
        from unnest($2, $3, $4, $5) with ordinality a(kind, id, incarnation, version, n)
       where a.kind = $1 and a.version > 0)
    select array_agg(h.n) into places from (
      select w.n from wanted w join nat_gateway t on t.id = w.id
       where t.version = w.version and t.incarnation = w.incarnation for update of t skip locked) h;
  when 'network-pool' then
    with wanted as materialized (
      select a.n, a.id::uuid as id, a.incarnation, a.version
        from unnest($2, $3, $4, $5) with ordinality a(kind, id, incarnation, version, n)
       where a.kind = $1 and a.version > 0)
    select array_agg(h.n) into places from (
      select w.n from wanted w join network_pool t on t.id = w.id
       where t.version = w.version and t.incarnation = w.incarnation for update of t skip locked) h;
  when 'nic-tag' then
    with wanted as materialized (
      select a.n, a.id::uuid as id, a.incarnation, a.version
        from unnest($2, $3, $4, $5) with ordinality a(kind, id, incarnation, version, n)
       where a.kind = $1 and a.version > 0)
    select array_agg(h.n) into places from (
      select w.n from wanted w join nic_tag t on t.id = w.id
       where t.version = w.version and t.incarnation = w.incarnation for update of t skip locked) h;
  when 'placement-group' then
    with wanted as materialized (
      select a.n, a.id::uuid as id, a.incarnation, a.version
        from unnest($2, $3, $4, $5) with ordinality a(kind, id, incarnation, version, n)
       where a.kind = $1 and a.version > 0)
    select array_agg(h.n) into places from (
      select w.n from wanted w join placement_group t on t.id = w.id
       where t.version = w.version and t.incarnation = w.incarnation for update of t skip locked) h;
  when 'port-forward' then
    with wanted as materialized (
      select a.n, a.id::uuid as id, a.incarnation, a.version
        from unnest($2, $3, $4, $5) with ordinality a(kind, id, incarnation, version, n)
       where a.kind = $1 and a.version > 0)
    select array_agg(h.n) into places from (
      select w.n from wanted w join port_forward t on t.id = w.id
       where t.version = w.version and t.incarnation = w.incarnation for update of t skip locked) h;
  when 'project' then
    with wanted as materialized (
      select a.n, a.id::uuid as id, a.incarnation, a.version
        from unnest($2, $3, $4, $5) with ordinality a(kind, id, incarnation, version, n)
       where a.kind = $1 and a.version > 0)
    select array_agg(h.n) into places from (
      select w.n from wanted w join project t on t.id = w.id
       where t.version = w.version and t.incarnation = w.incarnation for update of t skip locked) h;
  when 'quota' then
    with wanted as materialized (
      select a.n, a.id::uuid as id, a.incarnation, a.version
        from unnest($2, $3, $4, $5) with ordinality a(kind, id, incarnation, version, n)
       where a.kind = $1 and a.version > 0)
    select array_agg(h.n) into places from (
      select w.n from wanted w join quota t on t.project_id = w.id
       where t.version = w.version and t.incarnation = w.incarnation for update of t skip locked) h;
  when 'route' then
    with wanted as materialized (
      select a.n, a.id::uuid as id, a.incarnation, a.version
        from unnest($2, $3, $4, $5) with ordinality a(kind, id, incarnation, version, n)
       where a.kind = $1 and a.version > 0)
    select array_agg(h.n) into places from (
      select w.n from wanted w join route t on t.id = w.id
       where t.version = w.version and t.incarnation = w.incarnation for update of t skip locked) h;
  when 'route-table' then
    with wanted as materialized (
      select a.n, a.id::uuid as id, a.incarnation, a.version
        from unnest($2, $3, $4, $5) with ordinality a(kind, id, incarnation, version, n)
       where a.kind = $1 and a.version > 0)
    select array_agg(h.n) into places from (
      select w.n from wanted w join route_table t on t.id = w.id
       where t.version = w.version and t.incarnation = w.incarnation for update of t skip locked) h;
  when 'saga' then
    with wanted as materialized (
      select a.n, a.id::uuid as id, a.incarnation, a.version
        from unnest($2, $3, $4, $5) with ordinality a(kind, id, incarnation, version, n)
       where a.kind = $1 and a.version > 0)
    select array_agg(h.n) into places from (
      select w.n from wanted w join saga t on t.id = w.id
       where t.version = w.version and t.incarnation = w.incarnation for update of t skip locked) h;
  when 'session' then
    with wanted as materialized (
      select a.n, a.id::uuid as id, a.incarnation, a.version
        from unnest($2, $3, $4, $5) with ordinality a(kind, id, incarnation, version, n)
       where a.kind = $1 and a.version > 0)
    select array_agg(h.n) into places from (
      select w.n from wanted w join session t on t.id = w.id
       where t.version = w.version and t.incarnation = w.incarnation for update of t skip locked) h;
  when 'setting' then
    with wanted as materialized (
      select a.n, a.id::text as id, a.incarnation, a.version
        from unnest($2, $3, $4, $5) with ordinality a(kind, id, incarnation, version, n)
       where a.kind = $1 and a.version > 0)
    select array_agg(h.n) into places from (
      select w.n from wanted w join setting t on t.key = w.id
       where t.version = w.version and t.incarnation = w.incarnation for update of t skip locked) h;
  when 'silo' then
    with wanted as materialized (
      select a.n, a.id::uuid as id, a.incarnation, a.version
        from unnest($2, $3, $4, $5) with ordinality a(kind, id, incarnation, version, n)
       where a.kind = $1 and a.version > 0)
    select array_agg(h.n) into places from (
      select w.n from wanted w join silo t on t.id = w.id
       where t.version = w.version and t.incarnation = w.incarnation for update of t skip locked) h;
  when 'site' then
    with wanted as materialized (
      select a.n, a.id::text as id, a.incarnation, a.version
        from unnest($2, $3, $4, $5) with ordinality a(kind, id, incarnation, version, n)
       where a.kind = $1 and a.version > 0)
    select array_agg(h.n) into places from (
      select w.n from wanted w join site t on t.id = w.id
       where t.version = w.version and t.incarnation = w.incarnation for update of t skip locked) h;
  when 'ssh-key' then
    with wanted as materialized (
      select a.n, a.id::uuid as id, a.incarnation, a.version
        from unnest($2, $3, $4, $5) with ordinality a(kind, id, incarnation, version, n)
       where a.kind = $1 and a.version > 0)
    select array_agg(h.n) into places from (
      select w.n from wanted w join ssh_key t on t.id = w.id
       where t.version = w.version and t.incarnation = w.incarnation for update of t skip locked) h;
  when 'staging' then
    with wanted as materialized (
      select a.n, a.id::uuid as id, a.incarnation, a.version
        from unnest($2, $3, $4, $5) with ordinality a(kind, id, incarnation, version, n)
       where a.kind = $1 and a.version > 0)
    select array_agg(h.n) into places from (
      select w.n from wanted w join staging t on t.staged_by = w.id
       where t.version = w.version and t.incarnation = w.incarnation for update of t skip locked) h;
  when 'subnet' then
    with wanted as materialized (
      select a.n, a.id::uuid as id, a.incarnation, a.version
        from unnest($2, $3, $4, $5) with ordinality a(kind, id, incarnation, version, n)
       where a.kind = $1 and a.version > 0)
    select array_agg(h.n) into places from (
      select w.n from wanted w join subnet t on t.id = w.id
       where t.version = w.version and t.incarnation = w.incarnation for update of t skip locked) h;
  when 'tenant' then
    with wanted as materialized (
      select a.n, a.id::uuid as id, a.incarnation, a.version
        from unnest($2, $3, $4, $5) with ordinality a(kind, id, incarnation, version, n)
       where a.kind = $1 and a.version > 0)
    select array_agg(h.n) into places from (
      select w.n from wanted w join tenant t on t.id = w.id
       where t.version = w.version and t.incarnation = w.incarnation for update of t skip locked) h;
  when 'tenant-quota' then
    with wanted as materialized (
      select a.n, a.id::uuid as id, a.incarnation, a.version
        from unnest($2, $3, $4, $5) with ordinality a(kind, id, incarnation, version, n)
       where a.kind = $1 and a.version > 0)
    select array_agg(h.n) into places from (
      select w.n from wanted w join tenant_quota t on t.tenant_id = w.id
       where t.version = w.version and t.incarnation = w.incarnation for update of t skip locked) h;
  when 'user' then
    with wanted as materialized (
      select a.n, a.id::uuid as id, a.incarnation, a.version
        from unnest($2, $3, $4, $5) with ordinality a(kind, id, incarnation, version, n)
       where a.kind = $1 and a.version > 0)
    select array_agg(h.n) into places from (
      select w.n from wanted w join user_account t on t.id = w.id
       where t.version = w.version and t.incarnation = w.incarnation for update of t skip locked) h;
  when 'vpc' then
    with wanted as materialized (
      select a.n, a.id::uuid as id, a.incarnation, a.version
        from unnest($2, $3, $4, $5) with ordinality a(kind, id, incarnation, version, n)
       where a.kind = $1 and a.version > 0)
    select array_agg(h.n) into places from (
      select w.n from wanted w join vpc t on t.id = w.id
       where t.version = w.version and t.incarnation = w.incarnation for update of t skip locked) h;
  when 'webhook' then
    with wanted as materialized (
      select a.n, a.id::uuid as id, a.incarnation, a.version
        from unnest($2, $3, $4, $5) with ordinality a(kind, id, incarnation, version, n)
       where a.kind = $1 and a.version > 0)
    select array_agg(h.n) into places from (
      select w.n from wanted w join webhook t on t.id = w.id
       where t.version = w.version and t.incarnation = w.incarnation for update of t skip locked) h;
  else
    execute berth_statement('held', $6, array[$7], $8) into places using $1, $2, $3, $4, $5;
  end case;
  return places;
end $$;
