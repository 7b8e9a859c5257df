-- Takes {project_id, cpu, memory_bytes, disk_bytes, instances, defaults}. Returns the limit that these amounts would
-- exceed, or 'true' if they exceed no limit. The limits are in the project's quota, or in `defaults` if the project has
-- no quota. The caller must hold the locks project:<id> and quota:<tenant> exclusively. One statement with a cached
-- plan compares all limits. Slower functions find the name of the exceeded limit; they run only if a limit is exceeded,
-- or if the project has no row in project_usage.
create or replace function guard_quota_has_room(args jsonb) returns text language plpgsql volatile as $$
declare
  of_project constant uuid := (args->>'project_id')::uuid;
begin
  perform from project_usage u left join quota q on q.project_id = u.project_id
    where u.project_id = of_project
      and within_limit(u.cpu, args->>'cpu', q.project_id, q.cpu_limit, args->'defaults'->>'cpu_limit')
      and within_limit(u.memory_bytes, args->>'memory_bytes', q.project_id, q.memory_bytes,
                       args->'defaults'->>'memory_bytes')
      and within_limit(u.disk_bytes, args->>'disk_bytes', q.project_id, q.disk_bytes, args->'defaults'->>'disk_bytes')
      and within_limit(u.instances, args->>'instances', q.project_id, q.instance_limit,
                       args->'defaults'->>'instance_limit');
  if found then return 'true'; end if;
  return coalesce(
    (select quota_broken(to_jsonb(l), to_jsonb(u), args)
       from project_usage u cross join lateral limits_of_project(u.project_id, args->'defaults') l
      where u.project_id = of_project),
    'true');
end $$;
