-- The images from which instances are created (docs/instances.md, "Images"). scope_kind determines which of the columns
-- silo_id, tenant_id and project_id are set. An image of a project also contains the project's tenant, and a foreign
-- key checks the pair (INV-15).
create table image (
  id            uuid primary key,
  incarnation   uuid not null,
  version       bigint not null check (version > 0),
  wake_at       timestamptz,
  state         text not null check (state = 'live'),
  scope_kind    text not null,
  silo_id       uuid,
  tenant_id     uuid,
  project_id    uuid,
  name          text not null,
  description   text not null,
  os            text not null,
  os_version    text not null,
  size_bytes    bigint not null check (size_bytes > 0),
  sha256        text not null check (sha256 ~ '^[0-9a-f]{64}$'),
  source_url    text,
  compatibility jsonb,
  created_at    timestamptz not null,
  constraint image_scope check (case scope_kind
    when 'public' then num_nonnulls(silo_id, tenant_id, project_id) = 0
    when 'silo' then silo_id is not null and num_nonnulls(tenant_id, project_id) = 0
    when 'tenant' then tenant_id is not null and num_nonnulls(silo_id, project_id) = 0
    when 'project' then num_nulls(tenant_id, project_id) = 0 and silo_id is null
    else false end),
  -- A name is unique in its scope. The columns that the scope does not use are null, and this constraint treats nulls
  -- as equal.
  constraint image_name unique nulls not distinct (silo_id, tenant_id, project_id, name),
  constraint image_silo_fkey foreign key (silo_id) references silo (id),
  constraint image_tenant_fkey foreign key (tenant_id) references tenant (id),
  constraint image_project_fkey foreign key (project_id, tenant_id) references project (id, tenant_id)
);
create index image_public on image (id) where scope_kind = 'public';
create index image_of_tenant on image (tenant_id) where tenant_id is not null;
create index image_of_project on image (project_id) where project_id is not null;
insert into actor_kind values ('image', 'image', 'id');

-- A commit that creates an instance holds the lock image:<id> shared. A commit that deletes the image holds it
-- exclusively. The foreign key refuses the deletion of a used image, whichever process deletes it.
alter table instance add column image_id uuid,
  add constraint instance_image_fkey foreign key (image_id) references image (id);
create index instance_of_image on instance (image_id) where image_id is not null;

-- Returns 'true' if no instance uses the image {image_id}; otherwise the number of instances that use it. The text
-- does not reveal whose instances they are.
create function guard_image_is_unused(args jsonb) returns text language sql volatile as $$
  select case count(*) when 0 then 'true' when 1 then '1 instance' else format('%s instances', count(*)) end
    from instance where image_id = (args->>'image_id')::uuid $$;

-- Returns the name of an object that the tenant still has, or 'true'. The caller holds the tenant's lock exclusively.
create or replace function guard_tenant_is_empty(args jsonb) returns text language sql volatile as $$
  select coalesce(
    (select format('project %s (%s)', name, id) from project where tenant_id = (args->>'tenant_id')::uuid limit 1),
    (select format('image %s (%s)', name, id) from image where tenant_id = (args->>'tenant_id')::uuid limit 1),
    (select format('identity provider %s', issuer_url) from tenant_idp where tenant_id = (args->>'tenant_id')::uuid),
    (select format('API key %s', id) from api_key where tenant_id = (args->>'tenant_id')::uuid limit 1),
    (select format('user %s (%s)', username, id) from user_account where tenant_id = (args->>'tenant_id')::uuid limit 1),
    'true') $$;
create or replace function guard_project_is_empty(args jsonb) returns text language sql volatile as $$
  select coalesce(
    (select format('vpc %s (%s)', name, id) from vpc where project_id = (args->>'project_id')::uuid limit 1),
    (select format('floating ip %s (%s)', name, id) from floating_ip
      where project_id = (args->>'project_id')::uuid limit 1),
    (select format('image %s (%s)', name, id) from image where project_id = (args->>'project_id')::uuid limit 1),
    'true') $$;
