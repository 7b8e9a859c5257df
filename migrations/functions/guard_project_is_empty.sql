-- Returns 'true' if nothing is in the project {project_id}, otherwise a text that names objects in it. The caller
-- must hold the project's lock exclusively.
create or replace function guard_project_is_empty(args jsonb) returns text language sql volatile as $$
  select coalesce(berth_named(array(
    (select format('instance %s (%s)', name, id) from instance where project_id = (args->>'project_id')::uuid limit 6)
    union all
    (select format('vpc %s (%s)', name, id) from vpc where project_id = (args->>'project_id')::uuid limit 6)
    union all
    (select format('floating ip %s (%s)', name, id) from floating_ip
      where project_id = (args->>'project_id')::uuid limit 6)
    union all
    (select format('image %s (%s)', name, id) from image where project_id = (args->>'project_id')::uuid limit 6)
    union all
    (select format('placement group %s (%s)', name, id) from placement_group
      where project_id = (args->>'project_id')::uuid limit 6)
    union all
    (select format('webhook %s (%s)', name, id) from webhook where project_id = (args->>'project_id')::uuid limit 6)
    union all
    (select format('ssh key %s (%s)', name, id) from ssh_key where project_id = (args->>'project_id')::uuid limit 6)
    limit 6)), 'true') $$;
