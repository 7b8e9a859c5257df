-- How large disks are: what an image holds once it is decompressed, and one resize of a disk at a time. Document 3, Disk.

-- The size of the disk inside the image file, in bytes. Null where it is the size of the file.
alter table image add column content_bytes bigint check (content_bytes > 0);

-- The operation that last resized a disk: while it goes on, no other begins.
alter table disk add column resize_operation_id uuid;

-- The operation that resizes the disk {disk_id} now, or 'true'.
create function guard_disk_is_at_rest(args jsonb) returns text language sql volatile as $$
  select coalesce((select s.id::text from disk d join saga s on s.id = d.resize_operation_id
                    where d.id = (args->>'disk_id')::uuid and s.state in ('running', 'unwinding')), 'true') $$;
