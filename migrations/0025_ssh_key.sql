-- SSH keys for instances (docs/tenancy.md, "SSH keys"). Scopes are as in the table image. If a credential is bound to a
-- tenant, the keys that it adds for its user contain this tenant. Such a key is invisible in other tenants, even if the
-- same user has credentials for them.
create table ssh_key (
  id          uuid primary key,
  incarnation uuid not null,
  version     bigint not null check (version > 0),
  wake_at     timestamptz,
  state       text not null check (state = 'live'),
  scope_kind  text not null,
  silo_id     uuid,
  tenant_id   uuid,
  project_id  uuid,
  user_id     uuid,
  name        text not null,
  description text not null,
  public_key  text not null,
  fingerprint text not null check (fingerprint ~ '^SHA256:[A-Za-z0-9+/]{43}$'),
  created_at  timestamptz not null,
  constraint ssh_key_scope check (case scope_kind
    when 'public' then num_nonnulls(silo_id, tenant_id, project_id, user_id) = 0
    when 'silo' then silo_id is not null and num_nonnulls(tenant_id, project_id, user_id) = 0
    when 'tenant' then tenant_id is not null and num_nonnulls(silo_id, project_id, user_id) = 0
    when 'project' then num_nulls(tenant_id, project_id) = 0 and num_nonnulls(silo_id, user_id) = 0
    when 'user' then user_id is not null and num_nonnulls(silo_id, project_id) = 0
    else false end),
  constraint ssh_key_name unique nulls not distinct (silo_id, tenant_id, project_id, user_id, name),
  constraint ssh_key_fingerprint unique nulls not distinct (silo_id, tenant_id, project_id, user_id, fingerprint),
  constraint ssh_key_silo_fkey foreign key (silo_id) references silo (id),
  constraint ssh_key_tenant_fkey foreign key (tenant_id) references tenant (id),
  constraint ssh_key_project_fkey foreign key (project_id, tenant_id) references project (id, tenant_id),
  constraint ssh_key_user_fkey foreign key (user_id) references user_account (id) on delete cascade
);
create index ssh_key_public on ssh_key (id) where scope_kind = 'public';
create index ssh_key_of_tenant on ssh_key (tenant_id) where tenant_id is not null;
create index ssh_key_of_project on ssh_key (project_id) where project_id is not null;
create index ssh_key_of_user on ssh_key (user_id) where user_id is not null;
insert into actor_kind values ('ssh-key', 'ssh_key', 'id');

-- Returns the name of an object that the tenant still has, or 'true'. The caller holds the tenant's lock exclusively.
create or replace function guard_tenant_is_empty(args jsonb) returns text language sql volatile as $$
  select coalesce(
    (select format('project %s (%s)', name, id) from project where tenant_id = (args->>'tenant_id')::uuid limit 1),
    (select format('image %s (%s)', name, id) from image where tenant_id = (args->>'tenant_id')::uuid limit 1),
    (select format('ssh key %s (%s)', name, id) from ssh_key where tenant_id = (args->>'tenant_id')::uuid limit 1),
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
    (select format('ssh key %s (%s)', name, id) from ssh_key where project_id = (args->>'project_id')::uuid limit 1),
    'true') $$;
