-- Instances with their disks and NICs (docs/instances.md). The unit that creates an instance takes its addresses, its
-- room on a node and its share of the quota. Only the unit that deletes the record returns them. Both units hold the
-- locks cn:<id>, project:<id> and subnet:<id> exclusively.
alter table instance
  add column tenant_id         uuid not null,
  add column project_id        uuid not null,
  add column name              text not null,
  add column description       text not null,
  add column brand             text not null
    check (brand in ('kvm', 'bhyve', 'lx', 'native-minimal', 'not-applicable')),
  add column cpu               bigint not null check (cpu > 0),
  add column memory_bytes      bigint not null check (memory_bytes > 0),
  add column primary_subnet_id uuid not null,
  add column ssh_key_ids       uuid[] not null,
  -- Why the instance failed. A retry keeps the reason, because the instance may return to failed.
  add column reason            text,
  -- The operation that occupies the instance. Until it ends, no other operation starts, and the node's reports are
  -- ignored.
  add column operation_id      uuid,
  add column operation_kind    text check (operation_kind in ('create', 'start', 'stop', 'restart', 'retry', 'delete')),
  -- Whether the node has claimed the operation's job.
  add column job_begun         boolean not null default false,
  -- The job id in the tell that an unwinding operation waits for. It is set while the operation waits for the node.
  add column unwinding_as      uuid,
  add column floating_ip_ids   uuid[] not null default '{}',
  -- reported_at is the time of the newest report of the node that the server has applied to the instance.
  -- missed_reports is the number of latest reports in a row that did not contain the instance.
  add column reported_at       timestamptz,
  add column missed_reports    int not null default 0 check (missed_reports between 0 and 2),
  add column created_at        timestamptz not null,
  add column updated_at        timestamptz not null,
  alter column image_id set not null,
  add check ((operation_id is null) = (operation_kind is null)),
  add check (operation_id is not null or (unwinding_as is null and not job_begun)),
  add check (state <> 'failed' or reason is not null),
  -- The instance leaves these states only by an operation.
  add check (state not in ('pending', 'stopping') or operation_id is not null),
  add constraint instance_name unique (project_id, name),
  add constraint instance_project_fkey foreign key (project_id, tenant_id) references project (id, tenant_id),
  add constraint instance_owner unique (id, tenant_id, project_id);
create index instance_of_project on instance (project_id, id);
create index instance_on_cn_in_order on instance (host_cn_uuid, id) where host_cn_uuid is not null;
insert into actor_kind values ('instance', 'instance', 'id');

-- User data has a table of its own, because every message loads the instance's record.
create table instance_user_data (
  instance_id uuid primary key references instance (id) on delete cascade,
  user_data   text not null
);

create table nic (
  id           uuid primary key,
  tenant_id    uuid not null,
  project_id   uuid not null,
  instance_id  uuid not null,
  vpc_id       uuid not null,
  subnet_id    uuid not null,
  -- NICs are numbered from 0. The primary NIC has the number 0.
  ordinal      int not null check (ordinal >= 0),
  name         text not null,
  -- Never a multicast address.
  mac          macaddr not null check (trunc(mac) & '01:00:00:00:00:00' = '00:00:00:00:00:00'),
  primary_ipv4 inet check (family(primary_ipv4) = 4),
  primary_ipv6 inet check (family(primary_ipv6) = 6),
  created_at   timestamptz not null,
  check (primary_ipv4 is not null or primary_ipv6 is not null),
  constraint nic_mac unique (mac),
  constraint nic_name unique (instance_id, name),
  constraint nic_ordinal unique (instance_id, ordinal),
  constraint nic_ipv4 unique (subnet_id, primary_ipv4),
  constraint nic_ipv6 unique (subnet_id, primary_ipv6),
  constraint nic_instance_fkey foreign key (instance_id, tenant_id, project_id)
    references instance (id, tenant_id, project_id),
  constraint nic_subnet_fkey foreign key (subnet_id, vpc_id, tenant_id, project_id)
    references subnet (id, vpc_id, tenant_id, project_id)
);
create index nic_by_ipv4 on nic (primary_ipv4) where primary_ipv4 is not null;
create index nic_by_ipv6 on nic (primary_ipv6) where primary_ipv6 is not null;
create index nic_in_subnet on nic (subnet_id, id);

-- A NIC without a given MAC address gets a random one: the first octet is 02, and five octets are random.
create function nic_mac() returns trigger language plpgsql as $$
begin
  while new.mac is null or exists (select from nic where mac = new.mac) loop
    new.mac := ('02' || left(replace(gen_random_uuid()::text, '-', ''), 10))::macaddr;
  end loop;
  return new;
end $$;
create trigger nic_mac before insert on nic for each row when (new.mac is null) execute function nic_mac();

create table disk (
  id              uuid primary key,
  tenant_id       uuid not null,
  project_id      uuid not null,
  instance_id     uuid not null,
  name            text not null,
  description     text not null,
  kind            text not null check (kind in ('boot', 'data')),
  -- size_bytes is the requested size. applied_bytes is the size that the node last applied.
  size_bytes      bigint not null check (size_bytes > 0),
  applied_bytes   bigint,
  source_image_id uuid references image (id),
  created_at      timestamptz not null,
  check (applied_bytes <= size_bytes),
  constraint disk_name unique (instance_id, name),
  constraint disk_instance_fkey foreign key (instance_id, tenant_id, project_id)
    references instance (id, tenant_id, project_id)
);
create unique index disk_one_boot on disk (instance_id) where kind = 'boot';

-- No endpoint of this release starts a migration. The column names the instance that a migration occupies.
alter table migration add column instance_id uuid;
create index migration_of_instance on migration (instance_id) where instance_id is not null;

-- The job id in the tell that an unwinding saga gets when the node has applied the job's tombstone.
alter table job add column burial_told_as uuid;
create index job_of_saga on job (saga_id);

-- An instance with its NICs, its disks and its running migration, as the engine loads it.
create view instance_loaded as
  select i.*, n.nics, d.disks,
         (select m.id from migration m
           where m.instance_id = i.id and m.state not in ('completed', 'failed', 'aborted') limit 1) as migration_id
    from instance i,
         lateral (select coalesce(jsonb_agg(to_jsonb(nic) order by ordinal), '[]') as nics
                    from nic where instance_id = i.id) n,
         lateral (select coalesce(jsonb_agg(to_jsonb(disk) order by kind, id), '[]') as disks
                    from disk where instance_id = i.id) d;

-- Returns the running migration of the instance {instance_id}, or 'true'.
create function guard_instance_stays(args jsonb) returns text language sql volatile as $$
  select coalesce((select id::text from migration where instance_id = (args->>'instance_id')::uuid
                      and state not in ('completed', 'failed', 'aborted') limit 1), 'true') $$;

create or replace function guard_subnet_is_empty(args jsonb) returns text language sql volatile as $$
  select coalesce(
    (select format('nic %s of instance %s', id, instance_id) from nic
      where subnet_id = (args->>'subnet_id')::uuid limit 1),
    'true') $$;
create or replace function guard_project_is_empty(args jsonb) returns text language sql volatile as $$
  select coalesce(
    (select format('instance %s (%s)', name, id) from instance where project_id = (args->>'project_id')::uuid limit 1),
    (select format('vpc %s (%s)', name, id) from vpc where project_id = (args->>'project_id')::uuid limit 1),
    (select format('floating ip %s (%s)', name, id) from floating_ip
      where project_id = (args->>'project_id')::uuid limit 1),
    (select format('image %s (%s)', name, id) from image where project_id = (args->>'project_id')::uuid limit 1),
    (select format('ssh key %s (%s)', name, id) from ssh_key where project_id = (args->>'project_id')::uuid limit 1),
    'true') $$;
