-- Returns whether a migration in this state is over.
create or replace function berth_migration_ended(of_state text) returns boolean language sql immutable as $$
  select of_state in ('completed', 'failed', 'aborted') $$;
