-- What can change on an instance after its creation: labels, deletion protection and data disks.

alter table instance
  add column labels              jsonb not null default '{}' check (jsonb_typeof(labels) = 'object'),
  add column deletion_protection boolean not null default false;

-- A detached data disk stays on the node of its instance, but the guest does not see it. A boot disk is always
-- attached.
alter table disk add column attached boolean not null default true check (attached or kind = 'data');

-- An operation on a data disk occupies the instance, so the disks of an instance change one at a time.
alter table instance drop constraint instance_operation_kind_check;
alter table instance add constraint instance_operation_kind_check
  check (operation_kind in ('create', 'start', 'stop', 'restart', 'reset', 'retry', 'delete',
                            'create_disk', 'attach_disk', 'detach_disk', 'delete_disk'));

-- Creates the view again, with the new columns of the instance.
drop view instance_loaded;
create view instance_loaded as
  select i.*, n.nics, d.disks,
         (select m.id from migration m
           where m.instance_id = i.id and m.state not in ('completed', 'failed', 'aborted') limit 1) as migration_id
    from instance i,
         lateral (select coalesce(jsonb_agg(to_jsonb(nic) order by ordinal), '[]') as nics
                    from nic where instance_id = i.id) n,
         lateral (select coalesce(jsonb_agg(to_jsonb(disk) order by kind, id), '[]') as disks
                    from disk where instance_id = i.id) d;
