-- What can stand on a node. Factory reset and remove are refused while any of it does (document 2, Common guards); the
-- guards run inside commit_units, after the lock `cn:<id>` that whoever places something takes as well.
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

-- No endpoint starts a migration in this version; the guard holds all the same (document 4, Fixed here).
create table migration (
  id        uuid primary key,
  state     text not null,
  source_cn uuid not null,
  target_cn uuid not null
);

-- Each guard answers true when the message may go on.
create function guard_no_instance_on_cn(args jsonb) returns boolean language sql volatile as $$
  select not exists (select from instance where host_cn_uuid = (args->>'server_uuid')::uuid) $$;
create function guard_no_reservation_on_cn(args jsonb) returns boolean language sql volatile as $$
  select not exists (select from placement_reservation
    where server_uuid = (args->>'server_uuid')::uuid and expires_at > berth_now()) $$;
create function guard_no_migration_of_cn(args jsonb) returns boolean language sql volatile as $$
  select not exists (select from migration
    where (args->>'server_uuid')::uuid in (source_cn, target_cn) and state not in ('completed', 'failed', 'aborted')) $$;
-- The other side of the race: only an approved node takes work.
create function guard_cn_is_approved(args jsonb) returns boolean language sql volatile as $$
  select exists (select from cn where server_uuid = (args->>'server_uuid')::uuid and state = 'approved') $$;
