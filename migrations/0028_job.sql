-- Jobs as node agents and operators see them (docs/instances.md, "Jobs").

-- The seconds for which a claim is valid. Each renewal starts this time again.
alter table job add column lease_s int;

-- What nodes report about the jobs that they run. These are signals (0009): a heartbeat or a progress report changes no
-- actor. A lease ends when lease_until has passed and renewed_at is lease_s seconds old.
create table job_signal (
  job_id      uuid primary key references job (id) on delete cascade,
  renewed_at  timestamptz,
  step        text,
  percent     real,
  progress_at timestamptz
) with (fillfactor = 50);

create view job_loaded as
  select j.*, s.renewed_at, s.step, s.percent, s.progress_at from job j left join job_signal s on s.job_id = j.id;

-- Finds the jobs that a node must still undo.
create index job_tombstone on job (target_cn, seq) where tombstone;
-- Finds the jobs that a node runs.
create index job_in_hand on job (target_cn) where state = 'in_progress';
create index job_of_cn on job (target_cn, seq);
create index job_of_instance on job ((payload->>'instance_id'), seq) where payload ? 'instance_id';
create index job_ended on job (completed_at) where completed_at is not null;

-- Only a node that has claimed a job can have something to undo.
alter table job add constraint job_tombstone_claimed check (tombstone is not true or claimed_by is not null);
