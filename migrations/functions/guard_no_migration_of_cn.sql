-- Returns whether no migration from or to the node {server_uuid} is in progress.
create or replace function guard_no_migration_of_cn(args jsonb) returns boolean language sql volatile as $$
  select not exists (select from migration
    where (args->>'server_uuid')::uuid in (source_cn, target_cn) and not berth_migration_ended(state)) $$;
