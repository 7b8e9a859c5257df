-- Deletes rows of actors.
-- Each table below has its own statement, which PostgreSQL plans once per connection.
-- Any other table uses berth_statement.
-- - $1: the entries, each with the columns of one row
-- - $2: the index of the chosen alternative of each unit; only the entries of this alternative are written
-- - $3: the columns that the entries give
-- - $4 to $6: the table, its key columns and the type of the key columns
-- Printed by `deno task schema`: do not edit. See berth_statement.sql.
create or replace function berth_delete(jsonb, int[], text[], text, text[], text) returns void
language plpgsql volatile as $$
begin
  case $4
  when 'api_key' then
    delete from api_key t using jsonb_array_elements($1) e
     where $2[(e->>'$u')::int + 1] = (e->>'$c')::int and t.id = (e->>'$id')::uuid;
  when 'boot_policy' then
    delete from boot_policy t using jsonb_array_elements($1) e
     where $2[(e->>'$u')::int + 1] = (e->>'$c')::int and t.id = (e->>'$id')::text;
  when 'boot_record' then
    delete from boot_record t using jsonb_array_elements($1) e
     where $2[(e->>'$u')::int + 1] = (e->>'$c')::int and t.mac = (e->>'$id')::text;
  when 'boot_roster' then
    delete from boot_roster t using jsonb_array_elements($1) e
     where $2[(e->>'$u')::int + 1] = (e->>'$c')::int and t.id = (e->>'$id')::text;
  when 'cn' then
    delete from cn t using jsonb_array_elements($1) e
     where $2[(e->>'$u')::int + 1] = (e->>'$c')::int and t.server_uuid = (e->>'$id')::uuid;
  when 'console_session' then
    delete from console_session t using jsonb_array_elements($1) e
     where $2[(e->>'$u')::int + 1] = (e->>'$c')::int and t.id = (e->>'$id')::uuid;
  when 'enrolment_claim' then
    delete from enrolment_claim t using jsonb_array_elements($1) e
     where $2[(e->>'$u')::int + 1] = (e->>'$c')::int and t.id = (e->>'$id')::uuid;
  when 'external_subnet' then
    delete from external_subnet t using jsonb_array_elements($1) e
     where $2[(e->>'$u')::int + 1] = (e->>'$c')::int and t.id = (e->>'$id')::uuid;
  when 'firewall_rule' then
    delete from firewall_rule t using jsonb_array_elements($1) e
     where $2[(e->>'$u')::int + 1] = (e->>'$c')::int and t.id = (e->>'$id')::uuid;
  when 'floating_ip' then
    delete from floating_ip t using jsonb_array_elements($1) e
     where $2[(e->>'$u')::int + 1] = (e->>'$c')::int and t.id = (e->>'$id')::uuid;
  when 'tenant_idp' then
    delete from tenant_idp t using jsonb_array_elements($1) e
     where $2[(e->>'$u')::int + 1] = (e->>'$c')::int and t.tenant_id = (e->>'$id')::uuid;
  when 'image' then
    delete from image t using jsonb_array_elements($1) e
     where $2[(e->>'$u')::int + 1] = (e->>'$c')::int and t.id = (e->>'$id')::uuid;
  when 'image_upload' then
    delete from image_upload t using jsonb_array_elements($1) e
     where $2[(e->>'$u')::int + 1] = (e->>'$c')::int and t.id = (e->>'$id')::uuid;
  when 'instance' then
    delete from instance t using jsonb_array_elements($1) e
     where $2[(e->>'$u')::int + 1] = (e->>'$c')::int and t.id = (e->>'$id')::uuid;
  when 'job' then
    delete from job t using jsonb_array_elements($1) e
     where $2[(e->>'$u')::int + 1] = (e->>'$c')::int and t.id = (e->>'$id')::uuid;
  when 'nat_gateway' then
    delete from nat_gateway t using jsonb_array_elements($1) e
     where $2[(e->>'$u')::int + 1] = (e->>'$c')::int and t.id = (e->>'$id')::uuid;
  when 'network_pool' then
    delete from network_pool t using jsonb_array_elements($1) e
     where $2[(e->>'$u')::int + 1] = (e->>'$c')::int and t.id = (e->>'$id')::uuid;
  when 'nic_tag' then
    delete from nic_tag t using jsonb_array_elements($1) e
     where $2[(e->>'$u')::int + 1] = (e->>'$c')::int and t.id = (e->>'$id')::uuid;
  when 'placement_group' then
    delete from placement_group t using jsonb_array_elements($1) e
     where $2[(e->>'$u')::int + 1] = (e->>'$c')::int and t.id = (e->>'$id')::uuid;
  when 'port_forward' then
    delete from port_forward t using jsonb_array_elements($1) e
     where $2[(e->>'$u')::int + 1] = (e->>'$c')::int and t.id = (e->>'$id')::uuid;
  when 'project' then
    delete from project t using jsonb_array_elements($1) e
     where $2[(e->>'$u')::int + 1] = (e->>'$c')::int and t.id = (e->>'$id')::uuid;
  when 'quota' then
    delete from quota t using jsonb_array_elements($1) e
     where $2[(e->>'$u')::int + 1] = (e->>'$c')::int and t.project_id = (e->>'$id')::uuid;
  when 'route' then
    delete from route t using jsonb_array_elements($1) e
     where $2[(e->>'$u')::int + 1] = (e->>'$c')::int and t.id = (e->>'$id')::uuid;
  when 'route_table' then
    delete from route_table t using jsonb_array_elements($1) e
     where $2[(e->>'$u')::int + 1] = (e->>'$c')::int and t.id = (e->>'$id')::uuid;
  when 'saga' then
    delete from saga t using jsonb_array_elements($1) e
     where $2[(e->>'$u')::int + 1] = (e->>'$c')::int and t.id = (e->>'$id')::uuid;
  when 'session' then
    delete from session t using jsonb_array_elements($1) e
     where $2[(e->>'$u')::int + 1] = (e->>'$c')::int and t.id = (e->>'$id')::uuid;
  when 'setting' then
    delete from setting t using jsonb_array_elements($1) e
     where $2[(e->>'$u')::int + 1] = (e->>'$c')::int and t.key = (e->>'$id')::text;
  when 'silo' then
    delete from silo t using jsonb_array_elements($1) e
     where $2[(e->>'$u')::int + 1] = (e->>'$c')::int and t.id = (e->>'$id')::uuid;
  when 'site' then
    delete from site t using jsonb_array_elements($1) e
     where $2[(e->>'$u')::int + 1] = (e->>'$c')::int and t.id = (e->>'$id')::text;
  when 'ssh_key' then
    delete from ssh_key t using jsonb_array_elements($1) e
     where $2[(e->>'$u')::int + 1] = (e->>'$c')::int and t.id = (e->>'$id')::uuid;
  when 'staging' then
    delete from staging t using jsonb_array_elements($1) e
     where $2[(e->>'$u')::int + 1] = (e->>'$c')::int and t.staged_by = (e->>'$id')::uuid;
  when 'subnet' then
    delete from subnet t using jsonb_array_elements($1) e
     where $2[(e->>'$u')::int + 1] = (e->>'$c')::int and t.id = (e->>'$id')::uuid;
  when 'tenant' then
    delete from tenant t using jsonb_array_elements($1) e
     where $2[(e->>'$u')::int + 1] = (e->>'$c')::int and t.id = (e->>'$id')::uuid;
  when 'tenant_quota' then
    delete from tenant_quota t using jsonb_array_elements($1) e
     where $2[(e->>'$u')::int + 1] = (e->>'$c')::int and t.tenant_id = (e->>'$id')::uuid;
  when 'user_account' then
    delete from user_account t using jsonb_array_elements($1) e
     where $2[(e->>'$u')::int + 1] = (e->>'$c')::int and t.id = (e->>'$id')::uuid;
  when 'vpc' then
    delete from vpc t using jsonb_array_elements($1) e
     where $2[(e->>'$u')::int + 1] = (e->>'$c')::int and t.id = (e->>'$id')::uuid;
  when 'webhook' then
    delete from webhook t using jsonb_array_elements($1) e
     where $2[(e->>'$u')::int + 1] = (e->>'$c')::int and t.id = (e->>'$id')::uuid;
  else
    execute berth_statement('delete', $4, $5, $6) using $1, $2, $3;
  end case;
end $$;
