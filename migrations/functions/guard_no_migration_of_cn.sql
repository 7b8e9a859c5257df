-- Returns whether no migration from or to the node {server_uuid} is in progress. Every migration has an instance. The
-- two subqueries check this anyway: they repeat the predicates of partial indexes, so that PostgreSQL uses the indexes.
create or replace function guard_no_migration_of_cn(args jsonb) returns boolean language sql volatile as $$
  select not exists (select from migration where source_cn = (args->>'server_uuid')::uuid
                        and instance_id is not null and not berth_migration_ended(state))
     and not exists (select from migration where target_cn = (args->>'server_uuid')::uuid
                        and instance_id is not null and not berth_migration_ended(state)) $$;
