-- Returns whether an instance's migration to another node is over, by the migration's state.
create or replace function berth_migration_ended(of_state text) returns boolean language sql immutable as $$
  select of_state in ('completed', 'failed', 'aborted') $$;
