-- Migrations of instances between nodes. A row ends once, as completed, failed or aborted. The commit that completes a
-- migration also changes the node of the instance.
alter table migration
  add column live boolean,
  add column created_at timestamptz,
  add column ended_at timestamptz,
  add column reason text,
  -- The job in which the source copies the instance, and the job in which the target starts it.
  add column send_job_id uuid,
  add column activate_job_id uuid;

create index migration_to_cn on migration (target_cn) where instance_id is not null
  and state not in ('completed', 'failed', 'aborted');

-- The nodes that have a part of a VPC: the hosts of its NICs, even of stopped instances, the target nodes of migrations
-- of these instances, and the hosts of its NAT gateways.
create or replace view vpc_node as
  select n.vpc_id, i.host_cn_uuid as server_uuid
    from nic n join instance i on i.id = n.instance_id where i.host_cn_uuid is not null
  union
  select n.vpc_id, m.target_cn
    from nic n join migration m on m.instance_id = n.instance_id where m.state not in ('completed', 'failed', 'aborted')
  union
  select vpc_id, host_cn_uuid from nat_gateway where host_cn_uuid is not null;

-- A migration occupies its instance.
alter table instance drop constraint instance_operation_kind_check;
alter table instance add constraint instance_operation_kind_check
  check (operation_kind in ('create', 'start', 'stop', 'restart', 'reset', 'retry', 'delete',
                            'create_disk', 'attach_disk', 'detach_disk', 'delete_disk', 'migrate'));
