-- Returns the limit of a project's quota that {project_id, cpu, memory_bytes, disk_bytes, instances, defaults} would
-- exceed, or 'true' when nothing is found. The caller must hold the locks project:<id> and quota:<tenant> exclusively.
create or replace function guard_quota_has_room(args jsonb) returns text language sql volatile as $$
  select coalesce(
    (select quota_broken(to_jsonb(l), to_jsonb(u), args)
       from project_usage u cross join lateral limits_of_project(u.project_id, args->'defaults') l
      where u.project_id = (args->>'project_id')::uuid),
    'true') $$;
