-- Returns whether the project {project_id} has fewer than {max} webhooks. The caller must hold the project's lock for
-- webhooks.
create or replace function guard_project_has_webhook_room(args jsonb) returns boolean language sql volatile as $$
  select count(*) < (args->>'max')::bigint from (
    select from webhook where project_id = (args->>'project_id')::uuid limit (args->>'max')::bigint) w $$;
