-- Counts the migrations from the node {server_uuid} that have not ended. Returns 'true' if the number is below
-- {migrations_max}, otherwise the number as text.
create or replace function guard_cn_sends_fewer(args jsonb) returns text language sql volatile as $$
  select case when count(*) < (args->>'migrations_max')::int then 'true' else count(*)::text end
    from migration where source_cn = (args->>'server_uuid')::uuid and instance_id is not null
                     and not berth_migration_ended(state) $$;
