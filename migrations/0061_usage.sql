-- Usage of projects by day, and load of instances (docs/tenancy.md, "Usage by day"; docs/instances.md, "Load").

-- The periods in which a resource used something. A trigger writes them in the commit that changes the resource. So a
-- repeated request or a restart of the server is not counted twice. There is no foreign key, because the usage of a
-- deleted resource, project or tenant is still billed. usage_close deletes the periods of closed days.
create table usage_span (
  id           bigint generated always as identity primary key,
  tenant_id    uuid not null,
  project_id   uuid not null,
  resource     text not null check (resource in ('instance', 'disk', 'floating_ip')),
  resource_id  uuid not null,
  vcpus        bigint not null check (vcpus >= 0),
  memory_bytes bigint not null check (memory_bytes >= 0),
  disk_bytes   bigint not null check (disk_bytes >= 0),
  floating_ips bigint not null check (floating_ips >= 0),
  began_at     timestamptz not null,
  ended_at     timestamptz check (ended_at >= began_at)
);
create unique index usage_span_open on usage_span (resource, resource_id) where ended_at is null;
create index usage_span_of_resource on usage_span (resource, resource_id, ended_at);
create index usage_span_of_project on usage_span (project_id, began_at);
create index usage_span_ended on usage_span (ended_at) where ended_at is not null;

-- The body of this function is in migrations/functions.
create function usage_follow() returns trigger language plpgsql as $$ begin return null; end $$;
create trigger usage_of_new after insert on instance for each row execute function usage_follow();
create trigger usage_of_changed after update on instance for each row
  when (old.state <> new.state or old.cpu <> new.cpu or old.memory_bytes <> new.memory_bytes)
  execute function usage_follow();
create trigger usage_of_deleted after delete on instance for each row execute function usage_follow();
create trigger usage_of_new after insert on disk for each row execute function usage_follow();
create trigger usage_of_changed after update on disk for each row when (old.size_bytes <> new.size_bytes)
  execute function usage_follow();
create trigger usage_of_deleted after delete on disk for each row execute function usage_follow();
create trigger usage_of_new after insert on floating_ip for each row execute function usage_follow();
create trigger usage_of_deleted after delete on floating_ip for each row execute function usage_follow();

-- The network counters of an instance as its node last reported them, and the bytes of each day.
create table usage_counter (
  instance_id            uuid primary key,
  server_uuid            uuid not null,
  -- The time of the report by the node's clock; null if the node sent none.
  made_at                timestamptz,
  cpu_seconds            double precision not null,
  network_received_bytes bigint not null,
  network_sent_bytes     bigint not null
) with (fillfactor = 50);
create table usage_traffic (
  instance_id       uuid not null,
  day               date not null,
  tenant_id         uuid not null,
  project_id        uuid not null,
  network_in_bytes  bigint not null check (network_in_bytes >= 0),
  network_out_bytes bigint not null check (network_out_bytes >= 0),
  primary key (instance_id, day)
) with (fillfactor = 50);
create index usage_traffic_of_project on usage_traffic (project_id, day);
create index usage_traffic_of_day on usage_traffic (day);

-- The sums of closed days. They never change.
create table usage_day (
  project_id           uuid not null,
  day                  date not null,
  tenant_id            uuid not null,
  vcpu_seconds         numeric not null,
  memory_byte_seconds  numeric not null,
  disk_byte_seconds    numeric not null,
  floating_ip_seconds  numeric not null,
  network_in_bytes     numeric not null,
  network_out_bytes    numeric not null,
  primary key (project_id, day)
);
create index usage_day_in_order on usage_day (day);
-- The last closed day.
create table usage_closed (one boolean primary key default true check (one), day date not null);
insert into usage_closed (day) values ((berth_now() at time zone 'UTC')::date - 1);

-- Usage is counted from this migration on.
insert into usage_span (tenant_id, project_id, resource, resource_id, vcpus, memory_bytes, disk_bytes, floating_ips,
                        began_at)
  select tenant_id, project_id, 'instance', id, cpu, memory_bytes, 0, 0, berth_now()
    from instance where state in ('running', 'stopping')
  union all select tenant_id, project_id, 'disk', id, 0, 0, size_bytes, 0, berth_now() from disk
  union all select tenant_id, project_id, 'floating_ip', id, 0, 0, 0, 1, berth_now() from floating_ip;
insert into usage_counter
  select distinct on (m.instance_id) m.instance_id, i.host_cn_uuid, null, m.cpu_seconds, m.network_received_bytes,
         m.network_sent_bytes
    from instance_metrics m join instance i on i.id = m.instance_id
   where i.host_cn_uuid is not null order by m.instance_id, m.at desc;

-- Whether the values are simulated, not measured.
alter table instance_metrics add column simulated boolean not null default false;

-- What an instance used in each minute of the last six hours and in each hour of the last seven days. There is no
-- foreign key, for the same reason as in instance_metrics. Rates are null if the instance restarted and no part of the
-- period could be measured.
create table instance_load (
  instance_id                    uuid not null,
  step                           text not null check (step in ('minute', 'hour')),
  at                             timestamptz not null,
  cpu                            double precision check (cpu >= 0),
  cpu_max                        double precision check (cpu_max >= 0),
  memory_bytes                   bigint not null check (memory_bytes >= 0),
  disk_read_bytes_per_s          double precision check (disk_read_bytes_per_s >= 0),
  disk_written_bytes_per_s       double precision check (disk_written_bytes_per_s >= 0),
  network_received_bytes_per_s   double precision check (network_received_bytes_per_s >= 0),
  network_sent_bytes_per_s       double precision check (network_sent_bytes_per_s >= 0),
  simulated                      boolean not null,
  primary key (instance_id, step, at)
);
create index instance_load_age on instance_load (step, at);
-- The last minute and the last hour that are summarized.
create table instance_load_done (step text primary key, at timestamptz not null);
insert into instance_load_done
  select step, date_trunc(step, berth_now(), 'UTC') - ('1 ' || step)::interval from unnest(array['minute', 'hour']) step;
