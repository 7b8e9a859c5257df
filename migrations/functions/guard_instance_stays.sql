-- Returns the unfinished migration of the instance {instance_id}, or 'true' if no such migration exists.
create or replace function guard_instance_stays(args jsonb) returns text language sql volatile as $$
  select coalesce((select id::text from migration where instance_id = (args->>'instance_id')::uuid
                      and not berth_migration_ended(state) limit 1), 'true') $$;
