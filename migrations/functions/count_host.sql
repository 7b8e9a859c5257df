-- Counts an instance for its node and its tenant, in the transaction that changes the node of the instance. That
-- transaction holds the lock cn:<id> of each node that gains or loses the instance, so two transactions never wait for
-- each other's rows.
create or replace function count_host() returns trigger language plpgsql as $$
begin
  if tg_op <> 'INSERT' and old.host_cn_uuid is not null then
    update cn_tenant_usage set instances = instances - 1
     where server_uuid = old.host_cn_uuid and tenant_id = old.tenant_id;
    delete from cn_tenant_usage
     where server_uuid = old.host_cn_uuid and tenant_id = old.tenant_id and instances = 0;
  end if;
  if tg_op <> 'DELETE' and new.host_cn_uuid is not null then
    insert into cn_tenant_usage as u (server_uuid, tenant_id, instances)
      values (new.host_cn_uuid, new.tenant_id, 1)
      on conflict (server_uuid, tenant_id) do update set instances = u.instances + 1;
  end if;
  return null;
end $$;
create or replace trigger count_host_added after insert on instance
  for each row when (new.host_cn_uuid is not null) execute function count_host();
create or replace trigger count_host_changed after update on instance
  for each row when (old.host_cn_uuid is distinct from new.host_cn_uuid) execute function count_host();
create or replace trigger count_host_removed after delete on instance
  for each row when (old.host_cn_uuid is not null) execute function count_host();
