-- Returns 'true' when the image {image_id} exists, otherwise its id.
create or replace function guard_image_exists(args jsonb) returns text language sql volatile as $$
  select coalesce((select 'true' from image where id = (args->>'image_id')::uuid), args->>'image_id') $$;
