-- Returns the number of instances that use the image {image_id}, as text, or 'true' if no instance uses it. An instance
-- also uses the image from which it is being rebuilt. The text does not name the owners of the instances.
create or replace function guard_image_is_unused(args jsonb) returns text language sql volatile as $$
  select case count(*) when 0 then 'true' when 1 then '1 instance' else format('%s instances', count(*)) end
    from (select id from instance where image_id = (args->>'image_id')::uuid
          union
          select instance_id from disk where kind = 'boot' and source_image_id = (args->>'image_id')::uuid) used $$;
