-- Sizes of disks: the size of an image after decompression, and one resize of a disk at a time (docs/instances.md,
-- "Disks").

-- The size of the disk inside the image file, in bytes. Null if it equals the size of the file.
alter table image add column content_bytes bigint check (content_bytes > 0);

-- The operation that last resized the disk. While it runs, no other resize starts.
alter table disk add column resize_operation_id uuid;

-- Returns the operation that is resizing the disk {disk_id}, or 'true'.
create function guard_disk_is_at_rest(args jsonb) returns text language sql volatile as $$
  select coalesce((select s.id::text from disk d join saga s on s.id = d.resize_operation_id
                    where d.id = (args->>'disk_id')::uuid and s.state in ('running', 'unwinding')), 'true') $$;
