-- Returns the first limit that would be exceeded, as text, or 'true' if none would be exceeded. limits, used and asked
-- are {cpu, memory_bytes, disk_bytes, instances}.
create or replace function quota_broken(limits jsonb, used jsonb, asked jsonb) returns text language sql stable as $$
  select coalesce(
    (select format('%s: limit %s%s, used %s, asked for %s', name, limits->>name,
                   case when (limits->>'own')::boolean then '' else ' (the default of the site)' end,
                   coalesce((used->>name)::bigint, 0), asked->>name)
       from unnest(array['cpu', 'memory_bytes', 'disk_bytes', 'instances']) with ordinality each(name, place)
      where (asked->>name)::bigint > 0
        and coalesce((used->>name)::bigint, 0) + (asked->>name)::bigint > (limits->>name)::bigint
      order by place limit 1),
    'true') $$;
