-- What can occupy a node: instances, placement reservations and migrations. Factory reset and removal are refused while
-- the node has any of them. The guards run inside commit_units, after it has taken the lock `cn:<id>`. A commit that
-- places something on the node takes the same lock.
create table instance (
  id           uuid primary key,
  incarnation  uuid not null,
  version      bigint not null check (version > 0),
  wake_at      timestamptz,
  state        text not null check (state in ('pending', 'provisioning', 'running', 'stopping', 'stopped', 'failed')),
  host_cn_uuid uuid
);
create index instance_on_cn on instance (host_cn_uuid) where host_cn_uuid is not null;

create table placement_reservation (
  server_uuid uuid not null,
  saga_id     uuid not null,
  instance_id uuid not null,
  expires_at  timestamptz not null,
  primary key (server_uuid, saga_id)
);

-- The migrations of instances. Later migrations of the schema add columns.
create table migration (
  id        uuid primary key,
  state     text not null,
  source_cn uuid not null,
  target_cn uuid not null
);

-- Each guard returns true if the message may be applied.
create function guard_no_instance_on_cn(args jsonb) returns boolean language sql volatile as $$
  select not exists (select from instance where host_cn_uuid = (args->>'server_uuid')::uuid) $$;
create function guard_no_reservation_on_cn(args jsonb) returns boolean language sql volatile as $$
  select not exists (select from placement_reservation
    where server_uuid = (args->>'server_uuid')::uuid and expires_at > berth_now()) $$;
create function guard_no_migration_of_cn(args jsonb) returns boolean language sql volatile as $$
  select not exists (select from migration
    where (args->>'server_uuid')::uuid in (source_cn, target_cn) and state not in ('completed', 'failed', 'aborted')) $$;
-- A commit that places something on a node has this guard: only an approved node accepts work.
create function guard_cn_is_approved(args jsonb) returns boolean language sql volatile as $$
  select exists (select from cn where server_uuid = (args->>'server_uuid')::uuid and state = 'approved') $$;
