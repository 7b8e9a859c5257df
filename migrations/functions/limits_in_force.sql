-- Returns the limits in force {cpu, memory_bytes, disk_bytes, instances, own}: all limits of a quota {cpu_limit,
-- memory_bytes, disk_bytes, instance_limit}, or, without a quota (null), the defaults of the same form. Null is
-- unlimited. `own` is true if the quota applies.
create or replace function limits_in_force(quota jsonb, defaults jsonb,
  out cpu bigint, out memory_bytes bigint, out disk_bytes bigint, out instances bigint, out own boolean)
language sql immutable as $$
  select (l.of->>'cpu_limit')::bigint, (l.of->>'memory_bytes')::bigint, (l.of->>'disk_bytes')::bigint,
         (l.of->>'instance_limit')::bigint, quota is not null
    from (values (coalesce(quota, defaults))) l(of) $$;
