-- Inserts or updates child rows.
-- Each pair of a table and key columns below has its own statement, which PostgreSQL plans once per connection.
-- Any other table uses berth_statement.
-- - $1: the entries, each with the columns of one row
-- - $2: the index of the chosen alternative of each unit; only the entries of this alternative are written
-- - $3: the columns that the entries give
-- - $4 to $6: the table, its key columns and the type of the key columns
-- Printed by `deno task schema`: do not edit. See berth_statement.sql.
create or replace function berth_upsert(jsonb, int[], text[], text, text[], text) returns void
language plpgsql volatile as $$
begin
  case $4 || ' ' || $5::text
  when 'cn_signal {server_uuid}' then
    insert into cn_signal as t (server_uuid, last_seen, last_status, status_at, status_made_at, status_id,
        agent_version)
    select r.server_uuid, r.last_seen, r.last_status, r.status_at, r.status_made_at, r.status_id, r.agent_version
      from jsonb_array_elements($1) e cross join jsonb_populate_record(null::cn_signal, e) r
     where $2[(e->>'$u')::int + 1] = (e->>'$c')::int
        on conflict (server_uuid) do update set last_seen = case when 'last_seen' = any($3) then excluded.last_seen else t.last_seen end,
        last_status = case when 'last_status' = any($3) then excluded.last_status else t.last_status end,
        status_at = case when 'status_at' = any($3) then excluded.status_at else t.status_at end,
        status_made_at = case when 'status_made_at' = any($3) then excluded.status_made_at else t.status_made_at end,
        status_id = case when 'status_id' = any($3) then excluded.status_id else t.status_id end,
        agent_version = case when 'agent_version' = any($3) then excluded.agent_version else t.agent_version end;
  when 'disk {id}' then
    insert into disk as t (id, tenant_id, project_id, instance_id, name, description, kind, size_bytes,
        applied_bytes, source_image_id, created_at, resize_operation_id, attached, source_disk_id, consistency,
        labels)
    select r.id, r.tenant_id, r.project_id, r.instance_id, r.name, r.description, r.kind, r.size_bytes,
        r.applied_bytes, r.source_image_id, r.created_at, r.resize_operation_id,
        case when e ? 'attached' then r.attached else true end, r.source_disk_id, r.consistency,
        case when e ? 'labels' then r.labels else '{}'::jsonb end
      from jsonb_array_elements($1) e cross join jsonb_populate_record(null::disk, e) r
     where $2[(e->>'$u')::int + 1] = (e->>'$c')::int
        on conflict (id) do update set tenant_id = case when 'tenant_id' = any($3) then excluded.tenant_id else t.tenant_id end,
        project_id = case when 'project_id' = any($3) then excluded.project_id else t.project_id end,
        instance_id = case when 'instance_id' = any($3) then excluded.instance_id else t.instance_id end,
        name = case when 'name' = any($3) then excluded.name else t.name end,
        description = case when 'description' = any($3) then excluded.description else t.description end,
        kind = case when 'kind' = any($3) then excluded.kind else t.kind end,
        size_bytes = case when 'size_bytes' = any($3) then excluded.size_bytes else t.size_bytes end,
        applied_bytes = case when 'applied_bytes' = any($3) then excluded.applied_bytes else t.applied_bytes end,
        source_image_id = case when 'source_image_id' = any($3) then excluded.source_image_id else t.source_image_id end,
        created_at = case when 'created_at' = any($3) then excluded.created_at else t.created_at end,
        resize_operation_id = case when 'resize_operation_id' = any($3) then excluded.resize_operation_id else t.resize_operation_id end,
        attached = case when 'attached' = any($3) then excluded.attached else t.attached end,
        source_disk_id = case when 'source_disk_id' = any($3) then excluded.source_disk_id else t.source_disk_id end,
        consistency = case when 'consistency' = any($3) then excluded.consistency else t.consistency end,
        labels = case when 'labels' = any($3) then excluded.labels else t.labels end;
  else
    execute berth_statement('upsert', $4, $5, $6) using $1, $2, $3;
  end case;
end $$;
