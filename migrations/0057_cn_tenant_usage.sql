-- The number of instances of each tenant on a node. Placement compares these numbers. To count the instances for each
-- placement would take longer with each instance of the site. The trigger count_host (functions/count_host.sql)
-- maintains the rows.
create table cn_tenant_usage (
  server_uuid uuid not null,
  tenant_id uuid not null,
  instances bigint not null default 0 check (instances >= 0),
  primary key (server_uuid, tenant_id)
) with (fillfactor = 50);

insert into cn_tenant_usage
  select host_cn_uuid, tenant_id, count(*) from instance where host_cn_uuid is not null group by 1, 2;
