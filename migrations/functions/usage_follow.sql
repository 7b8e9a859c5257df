-- Ends the open span of the changed row and begins the next one, both at the same time. The vCPUs and the memory of an
-- instance count while it is running or stopping. A disk and a floating IP count as long as they exist. A span never
-- begins before the previous span of the resource ended, even if the clock is set back.
create or replace function usage_follow() returns trigger language plpgsql as $$
declare
  subject  constant jsonb := case tg_op when 'DELETE' then to_jsonb(old) else to_jsonb(new) end;
  of_id    constant uuid := subject->>'id';
  was_on   constant boolean := tg_op <> 'INSERT' and
    (tg_table_name <> 'instance' or to_jsonb(old)->>'state' in ('running', 'stopping'));
  is_on    constant boolean := tg_op <> 'DELETE' and
    (tg_table_name <> 'instance' or subject->>'state' in ('running', 'stopping'));
  pass_at  timestamptz;
  last_end timestamptz;
begin
  if not was_on and not is_on then return null; end if;
  pass_at := berth_now();
  -- A new row has no earlier span.
  if tg_op <> 'INSERT' then
    select max(ended_at) into last_end from usage_span where resource = tg_table_name and resource_id = of_id;
    update usage_span set ended_at = greatest(began_at, pass_at)
     where resource = tg_table_name and resource_id = of_id and ended_at is null
     returning ended_at into pass_at;
  end if;
  if is_on then
    insert into usage_span (tenant_id, project_id, resource, resource_id, vcpus, memory_bytes, disk_bytes, floating_ips,
                            began_at)
      values ((subject->>'tenant_id')::uuid, (subject->>'project_id')::uuid, tg_table_name, of_id,
              case tg_table_name when 'instance' then (subject->>'cpu')::bigint else 0 end,
              case tg_table_name when 'instance' then (subject->>'memory_bytes')::bigint else 0 end,
              case tg_table_name when 'disk' then (subject->>'size_bytes')::bigint else 0 end,
              case tg_table_name when 'floating_ip' then 1 else 0 end,
              greatest(coalesce(pass_at, berth_now()), last_end));
  end if;
  return null;
end $$;
