-- Returns 'true' if the placement group {id} has no instances, otherwise their number.
create or replace function guard_placement_group_is_empty(args jsonb) returns text language sql volatile as $$
  select case when count(*) = 0 then 'true' else count(*)::text end
    from instance where placement_group_id = (args->>'id')::uuid $$;
