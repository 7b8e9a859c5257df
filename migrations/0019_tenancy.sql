-- The tenancy hierarchy: a silo has tenants, and a tenant has projects and users (docs/tenancy.md). A parent cannot be
-- deleted while it has children. The guards below name a child for the error text. The foreign keys enforce the rule
-- for every writer.
create table silo (
  id                uuid primary key,
  incarnation       uuid not null,
  version           bigint not null check (version > 0),
  wake_at           timestamptz,
  state             text not null check (state = 'live'),
  name              text not null,
  description       text not null,
  default_tenant_id uuid not null,
  created_at        timestamptz not null,
  constraint silo_name unique (name)
);

create table tenant (
  id          uuid primary key,
  incarnation uuid not null,
  version     bigint not null check (version > 0),
  wake_at     timestamptz,
  state       text not null check (state = 'live'),
  silo_id     uuid not null references silo (id),
  name        text not null,
  description text not null,
  created_at  timestamptz not null,
  constraint tenant_name unique (silo_id, name)
);
-- One commit call writes a new silo and its default tenant, in the alphabetical order of their kinds. The silo's row is
-- written first, so its reference to the tenant is checked at the end of the commit.
alter table silo add constraint silo_default_tenant foreign key (default_tenant_id) references tenant (id)
  deferrable initially deferred;

create table project (
  id          uuid primary key,
  incarnation uuid not null,
  version     bigint not null check (version > 0),
  wake_at     timestamptz,
  state       text not null check (state = 'live'),
  tenant_id   uuid not null references tenant (id),
  name        text not null,
  description text not null,
  created_at  timestamptz not null,
  constraint project_name unique (tenant_id, name),
  -- A row that belongs to a project also contains the project's tenant. Foreign keys to this constraint check the pair
  -- (INV-15).
  constraint project_of_tenant unique (id, tenant_id)
);

-- What the instances of a project use. The units that create, resize and delete instances change these sums.
create table project_usage (
  project_id   uuid primary key references project (id) on delete cascade,
  cpu          bigint not null default 0 check (cpu >= 0),
  memory_bytes bigint not null default 0 check (memory_bytes >= 0),
  disk_bytes   bigint not null default 0 check (disk_bytes >= 0),
  instances    bigint not null default 0 check (instances >= 0)
);

create table quota (
  project_id     uuid primary key references project (id) on delete cascade,
  incarnation    uuid not null,
  version        bigint not null check (version > 0),
  wake_at        timestamptz,
  state          text not null check (state = 'set'),
  tenant_id      uuid not null,
  cpu_limit      bigint not null check (cpu_limit >= 0),
  memory_bytes   bigint not null check (memory_bytes >= 0),
  disk_bytes     bigint not null check (disk_bytes >= 0),
  instance_limit bigint not null check (instance_limit >= 0),
  updated_at     timestamptz not null
);
insert into actor_kind values ('silo', 'silo', 'id'), ('tenant', 'tenant', 'id'), ('project', 'project', 'id'),
  ('quota', 'quota', 'project_id');

-- A user belongs to one tenant or, if the user operates the site, to none.
alter table user_account
  add column incarnation   uuid not null default gen_random_uuid(),
  add column version       bigint not null default 1 check (version > 0),
  add column wake_at       timestamptz,
  add column state         text not null default 'live' check (state = 'live'),
  add column tenant_id     uuid references tenant (id),
  add column password_hash text,
  add column capabilities  text[] not null default '{}',
  add column issuer        text,
  add column subject       text,
  add constraint user_capabilities check
    (capabilities <@ array['system-read', 'system-operate', 'system-config-write', 'storage-admin']),
  add constraint user_of_issuer unique (issuer, subject),
  add check ((issuer is null) = (subject is null) and (issuer is null or password_hash is null));
create index user_of_tenant on user_account (tenant_id) where tenant_id is not null;
insert into actor_kind values ('user', 'user_account', 'id');

-- A key that is bound to a tenant acts in this tenant, whichever user owns the key.
alter table api_key add column tenant_id uuid references tenant (id),
  add check (tenant_id is null or scope in ('full', 'read_only'));
create index api_key_of_tenant on api_key (tenant_id, created_at) where tenant_id is not null;

-- Returns the name of an object that the tenant still has, or 'true'. The caller holds the tenant's lock exclusively.
create function guard_tenant_is_empty(args jsonb) returns text language sql volatile as $$
  select coalesce(
    (select format('project %s (%s)', name, id) from project where tenant_id = (args->>'tenant_id')::uuid limit 1),
    (select format('user %s (%s)', username, id) from user_account where tenant_id = (args->>'tenant_id')::uuid limit 1),
    (select format('API key %s', id) from api_key where tenant_id = (args->>'tenant_id')::uuid limit 1),
    'true') $$;
create function guard_tenant_is_no_default(args jsonb) returns boolean language sql volatile as $$
  select not exists (select from silo where default_tenant_id = (args->>'tenant_id')::uuid) $$;
-- Later migrations replace this function when they add objects of projects.
create function guard_project_is_empty(args jsonb) returns text language sql volatile as $$ select 'true' $$;

-- Returns the limit of a project's quota that {project_id, cpu, memory_bytes, disk_bytes, instances} would exceed, or
-- 'true'. The function locks the row of the usage, so two creates cannot take the same room.
create function guard_quota_has_room(args jsonb) returns text language plpgsql volatile as $$
declare
  used  project_usage;
  bound quota;
begin
  select * into used from project_usage where project_id = (args->>'project_id')::uuid for update;
  select * into bound from quota where project_id = (args->>'project_id')::uuid;
  if bound.project_id is null then return 'true'; end if;
  return coalesce(
    (select format('%s: limit %s, used %s, asked for %s', q.name, q.most, q.used, q.asked)
       from (values ('cpu', bound.cpu_limit, used.cpu, (args->>'cpu')::bigint),
                    ('memory_bytes', bound.memory_bytes, used.memory_bytes, (args->>'memory_bytes')::bigint),
                    ('disk_bytes', bound.disk_bytes, used.disk_bytes, (args->>'disk_bytes')::bigint),
                    ('instances', bound.instance_limit, used.instances, (args->>'instances')::bigint))
            q(name, most, used, asked)
      where q.asked > 0 and q.used + q.asked > q.most limit 1),
    'true');
end $$;
-- Adds to the usage of a project. Negative amounts subtract from it.
create function effect_quota_use(args jsonb) returns void language sql volatile as $$
  update project_usage set cpu = cpu + coalesce((args->>'cpu')::bigint, 0),
         memory_bytes = memory_bytes + coalesce((args->>'memory_bytes')::bigint, 0),
         disk_bytes = disk_bytes + coalesce((args->>'disk_bytes')::bigint, 0),
         instances = instances + coalesce((args->>'instances')::bigint, 0)
   where project_id = (args->>'project_id')::uuid $$;
