-- Deletes child rows by columns.
-- Each pair of a table and key columns below has its own statement, which PostgreSQL plans once per connection.
-- Any other table uses berth_statement.
-- - $1: the entries, each with the columns of one row
-- - $2: the index of the chosen alternative of each unit; only the entries of this alternative are written
-- - $3: the columns that the entries give
-- - $4 to $6: the table, its key columns and the type of the key columns
-- Printed by `deno task schema`: do not edit. See berth_statement.sql.
create or replace function berth_remove(jsonb, int[], text[], text, text[], text) returns void
language plpgsql volatile as $$
begin
  case $4 || ' ' || $5::text
  when 'disk {instance_id}' then
    delete from disk t using jsonb_array_elements($1) e cross join jsonb_populate_record(null::disk, e) r
     where $2[(e->>'$u')::int + 1] = (e->>'$c')::int and t.instance_id = r.instance_id;
  when 'nic {instance_id}' then
    delete from nic t using jsonb_array_elements($1) e cross join jsonb_populate_record(null::nic, e) r
     where $2[(e->>'$u')::int + 1] = (e->>'$c')::int and t.instance_id = r.instance_id;
  when 'sealed_user_data {instance_id}' then
    delete from sealed_user_data t using jsonb_array_elements($1) e cross join jsonb_populate_record(null::sealed_user_data,
        e) r
     where $2[(e->>'$u')::int + 1] = (e->>'$c')::int and t.instance_id = r.instance_id;
  else
    execute berth_statement('remove', $4, $5, $6) using $1, $2, $3;
  end case;
end $$;
