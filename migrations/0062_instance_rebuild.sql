-- Rebuilds of instances. A rebuild occupies its instance. During the rebuild, the instance refers to the earlier image
-- and the boot disk refers to the new image, so neither image can be deleted.
alter table instance drop constraint instance_operation_kind_check;
alter table instance add constraint instance_operation_kind_check
  check (operation_kind in ('create', 'start', 'stop', 'restart', 'reset', 'retry', 'delete',
                            'create_disk', 'attach_disk', 'detach_disk', 'delete_disk',
                            'create_snapshot', 'delete_snapshot', 'migrate', 'rebuild'));

-- Finds the boot disks of an image for guard_image_is_unused.
create index boot_disk_of_image on disk (source_image_id) where kind = 'boot';
