-- Metrics, screenshots and resets of running machines.

-- The use of resources by running instances in the last hour, as their nodes counted it. The counters start at zero
-- when an instance starts. load_materialize deletes old samples. There is no foreign key, so a node's report locks no
-- row. The samples of a deleted instance cannot be read, and are deleted after an hour.
create table instance_metrics (
  instance_id            uuid not null,
  at                     timestamptz not null,
  cpu_seconds            double precision not null check (cpu_seconds >= 0),
  memory_bytes           bigint not null check (memory_bytes >= 0),
  disk_read_bytes        bigint not null check (disk_read_bytes >= 0),
  disk_written_bytes     bigint not null check (disk_written_bytes >= 0),
  network_received_bytes bigint not null check (network_received_bytes >= 0),
  network_sent_bytes     bigint not null check (network_sent_bytes >= 0),
  primary key (instance_id, at)
);
create index instance_metrics_age on instance_metrics (at);

-- The console relay also transfers screenshots, so a session can have the mode of a screenshot.
alter table console_session drop constraint console_session_mode_check;
alter table console_session add constraint console_session_mode_check
  check (mode in ('write', 'watch', 'log', 'screenshot'));

alter table instance drop constraint instance_operation_kind_check;
alter table instance add constraint instance_operation_kind_check
  check (operation_kind in ('create', 'start', 'stop', 'restart', 'reset', 'retry', 'delete'));
