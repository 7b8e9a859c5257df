-- Ends the open usage span of the changed row and begins its next span, both at the same time. During a span, the
-- amounts of the row do not change. The vCPUs and the memory of an instance count while it is running or stopping. A
-- disk and a floating IP count as long as they exist. A span never begins before the previous span of the resource
-- ended, even if the clock is set back. Each table has a statement of its own, because a conversion of the row to JSON
-- would cost more than the insert of the span.
create or replace function usage_follow() returns trigger language plpgsql as $$
declare
  pass_at  timestamptz := berth_now();
  last_end timestamptz;
begin
  -- A new row has no earlier span.
  if tg_op <> 'INSERT' then
    select max(ended_at) into last_end from usage_span where resource = tg_table_name and resource_id = old.id;
    update usage_span set ended_at = greatest(began_at, pass_at)
     where resource = tg_table_name and resource_id = old.id and ended_at is null
     returning ended_at into pass_at;
  end if;
  if tg_op = 'DELETE' then return null; end if;
  last_end := greatest(coalesce(pass_at, berth_now()), last_end);
  case tg_table_name
  when 'instance' then
    if new.state in ('running', 'stopping') then
      insert into usage_span
          (tenant_id, project_id, resource, resource_id, vcpus, memory_bytes, disk_bytes, floating_ips, began_at)
        values (new.tenant_id, new.project_id, 'instance', new.id, new.cpu, new.memory_bytes, 0, 0, last_end);
    end if;
  when 'disk' then
    insert into usage_span
        (tenant_id, project_id, resource, resource_id, vcpus, memory_bytes, disk_bytes, floating_ips, began_at)
      values (new.tenant_id, new.project_id, 'disk', new.id, 0, 0, new.size_bytes, 0, last_end);
  when 'floating_ip' then
    insert into usage_span
        (tenant_id, project_id, resource, resource_id, vcpus, memory_bytes, disk_bytes, floating_ips, began_at)
      values (new.tenant_id, new.project_id, 'floating_ip', new.id, 0, 0, 0, 1, last_end);
  end case;
  return null;
end $$;
-- The triggers on other tables are in migration 0061. If an instance counts neither before nor after a change, the
-- change calls no function.
create or replace trigger usage_of_new after insert on instance
  for each row when (new.state in ('running', 'stopping')) execute function usage_follow();
create or replace trigger usage_of_changed after update on instance
  for each row when ((old.state in ('running', 'stopping') or new.state in ('running', 'stopping'))
    and (old.state <> new.state or old.cpu <> new.cpu or old.memory_bytes <> new.memory_bytes))
  execute function usage_follow();
create or replace trigger usage_of_deleted after delete on instance
  for each row when (old.state in ('running', 'stopping')) execute function usage_follow();
