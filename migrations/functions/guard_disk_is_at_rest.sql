-- Returns the operation that resizes the disk {disk_id} now, or 'true' if none exists.
create or replace function guard_disk_is_at_rest(args jsonb) returns text language sql volatile as $$
  select coalesce((select s.id::text from disk d join saga s on s.id = d.resize_operation_id
                    where d.id = (args->>'disk_id')::uuid and s.state in ('running', 'unwinding')), 'true') $$;
