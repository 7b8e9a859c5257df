-- Snapshots of disks. A snapshot is a full copy of a disk on the node of its instance. It is a row of the table disk.
-- So the quota and the node's room count it like a disk, and the removal of the instance deletes it.

alter table disk drop constraint disk_kind_check;
alter table disk add constraint disk_kind_check check (kind in ('boot', 'data', 'snapshot'));

-- A boot disk is always attached. A snapshot is never attached.
alter table disk drop constraint disk_check1;
alter table disk add constraint disk_attached
  check (case kind when 'boot' then attached when 'snapshot' then not attached else true end);

-- source_disk_id is the disk from which a snapshot was made; it may no longer exist. consistency says how consistent
-- the copy is, and is null until the node has made the copy.
alter table disk
  add column source_disk_id uuid,
  add column consistency    text check (consistency in ('at_rest', 'frozen', 'crash')),
  add constraint disk_of_snapshot check ((kind = 'snapshot') = (source_disk_id is not null)),
  add constraint disk_consistency check (consistency is null or kind = 'snapshot');

-- A data disk from an image is a full copy, so the image may be deleted before the disk. The image of
-- a boot disk stays until the instance is deleted, because the instance refers to it.
alter table disk drop constraint disk_source_image_id_fkey;

-- An operation on a snapshot also occupies the instance.
alter table instance drop constraint instance_operation_kind_check;
alter table instance add constraint instance_operation_kind_check
  check (operation_kind in ('create', 'start', 'stop', 'restart', 'reset', 'retry', 'delete',
                            'create_disk', 'attach_disk', 'detach_disk', 'delete_disk',
                            'create_snapshot', 'delete_snapshot', 'migrate'));
