-- Returns what each project used on each day (UTC), from `first_day` to `last_day`. For closed days, returns the stored
-- sums. For later days, computes the sums, because usage_close_slice may have stored only a part of a later day.
-- `of_project` limits the result to one project.
create or replace function usage_between(first_day date, last_day date, of_project uuid default null)
returns table (project_id uuid, day date, tenant_id uuid, vcpu_seconds numeric, memory_byte_seconds numeric,
               disk_byte_seconds numeric, floating_ip_seconds numeric, network_in_bytes numeric, network_out_bytes numeric,
               closed boolean)
language sql stable as $$
  select d.project_id, d.day, d.tenant_id, d.vcpu_seconds, d.memory_byte_seconds, d.disk_byte_seconds,
         d.floating_ip_seconds, d.network_in_bytes, d.network_out_bytes, true
    from usage_closed c, usage_day d
   where d.day between first_day and least(last_day, c.day) and (of_project is null or d.project_id = of_project)
  union all
  select u.*, false
    from usage_closed c,
         lateral usage_by_day(greatest(first_day, c.day + 1), last_day, of_project) u $$;
