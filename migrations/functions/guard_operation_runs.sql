-- Returns whether the operation {id} is running. An operation that is being rolled back is not running.
create or replace function guard_operation_runs(args jsonb) returns boolean language sql volatile as $$
  select exists (select from saga where id = (args->>'id')::uuid and state = 'running') $$;
