-- Returns whether the uploaded images and the open uploads of the tenant {tenant_id} would have at most {max} bytes
-- with {size_bytes} more bytes. The caller must hold the lock image-uploads:<tenant>.
create or replace function guard_image_upload_fits(args jsonb) returns boolean language sql volatile as $$
  select (args->>'size_bytes')::numeric <= (args->>'max')::numeric
    - (select coalesce(sum(size_bytes), 0) from image_upload where tenant_id = (args->>'tenant_id')::uuid)
    - (select coalesce(sum(size_bytes), 0) from image
        where tenant_id = (args->>'tenant_id')::uuid and source_url like 'berth:%') $$;
