-- Returns the limits in force {cpu, memory_bytes, disk_bytes, instances, own}. They are the limits of the quota
-- {cpu_limit, memory_bytes, disk_bytes, instance_limit}. Without a quota (null), they are the defaults, which have the
-- same form. A null limit means unlimited. `own` is true if the quota applies.
create or replace function limits_in_force(quota jsonb, defaults jsonb,
  out cpu bigint, out memory_bytes bigint, out disk_bytes bigint, out instances bigint, out own boolean)
language sql immutable as $$
  select (l.of->>'cpu_limit')::bigint, (l.of->>'memory_bytes')::bigint, (l.of->>'disk_bytes')::bigint,
         (l.of->>'instance_limit')::bigint, quota is not null
    from (values (coalesce(quota, defaults))) l(of) $$;
