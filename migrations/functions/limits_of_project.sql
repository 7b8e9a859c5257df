-- Returns the limits in force for a project: the limits of its quota, or the defaults. See limits_in_force.
create or replace function limits_of_project(project uuid, defaults jsonb,
  out cpu bigint, out memory_bytes bigint, out disk_bytes bigint, out instances bigint, out own boolean)
language sql stable as $$
  select l.* from limits_in_force((select to_jsonb(q) from quota q where q.project_id = project), defaults) l $$;
