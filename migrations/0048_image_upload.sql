-- An image that a tenant uploads, until the upload is complete. Then the image refers to the bytes by `berth:<id of the
-- upload>` in source_url, and this row is deleted. The bytes are in a folder or a bucket, not in the database.
create table image_upload (
  id             uuid primary key,
  incarnation    uuid not null,
  version        bigint not null check (version > 0),
  wake_at        timestamptz,
  state          text not null check (state = 'open'),
  tenant_id      uuid not null,
  -- An uploaded image belongs to the whole tenant.
  project_id     uuid check (project_id is null),
  name           text not null,
  description    text not null,
  os             text not null,
  os_version     text not null,
  compatibility  jsonb,
  content_bytes  bigint,
  size_bytes     bigint not null check (size_bytes > 0),
  received_bytes bigint not null check (received_bytes between 0 and size_bytes),
  created_at     timestamptz not null,
  -- Each part extends it.
  expires_at     timestamptz not null,
  constraint image_upload_tenant_fkey foreign key (tenant_id) references tenant (id) on delete cascade
);
create index image_upload_of_tenant on image_upload (tenant_id);
create index image_upload_due on image_upload (wake_at) where wake_at is not null;
create index image_uploaded on image (source_url) where source_url like 'berth:%';
insert into actor_kind values ('image-upload', 'image_upload', 'id');
