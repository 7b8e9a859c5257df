-- Images from snapshots (docs/instances.md, "Images from snapshots"). The node sends the bytes into an upload that
-- belongs to the operation and to a project. sha256 is set when the server has computed the digest of all bytes. Then
-- the operation creates the image.
alter table image_upload drop constraint image_upload_project_id_check;
alter table image_upload
  add column labels       jsonb not null default '{}' check (jsonb_typeof(labels) = 'object'),
  add column operation_id uuid,
  add column sha256       text check (sha256 ~ '^[0-9a-f]{64}$'),
  add constraint image_upload_project_fkey foreign key (project_id) references project (id) on delete cascade,
  add constraint image_upload_of_operation check ((project_id is null) = (operation_id is null)),
  add constraint image_upload_digest check (sha256 is null or (operation_id is not null and received_bytes = size_bytes));
create index image_upload_of_project on image_upload (project_id) where project_id is not null;

-- The creation of an image occupies the instance.
alter table instance drop constraint instance_operation_kind_check;
alter table instance add constraint instance_operation_kind_check
  check (operation_kind in ('create', 'start', 'stop', 'restart', 'reset', 'retry', 'delete',
                            'create_disk', 'attach_disk', 'detach_disk', 'delete_disk',
                            'create_snapshot', 'delete_snapshot', 'create_image', 'migrate', 'rebuild'));
