-- Jobs as node agents and operators see them. Document 4, 1.8.

-- How long a claim holds without a renewal, and where the deadline goes on from the last one.
alter table job add column lease_s int;

-- What nodes tell of the jobs they run, all the time: a signal (0009), so that neither a heartbeat nor a progress report
-- changes the state of anything. A lease ends when lease_until has passed and renewed_at is lease_s old.
create table job_signal (
  job_id      uuid primary key references job (id) on delete cascade,
  renewed_at  timestamptz,
  step        text,
  percent     real,
  progress_at timestamptz
) with (fillfactor = 50);

create view job_loaded as
  select j.*, s.renewed_at, s.step, s.percent, s.progress_at from job j left join job_signal s on s.job_id = j.id;

-- What a node still has to undo.
create index job_tombstone on job (target_cn, seq) where tombstone;
-- What a node has in hand.
create index job_in_hand on job (target_cn) where state = 'in_progress';
create index job_of_cn on job (target_cn, seq);
create index job_of_instance on job ((payload->>'instance_id'), seq) where payload ? 'instance_id';
create index job_ended on job (completed_at) where completed_at is not null;

-- Only the node that has claimed it can have something to undo.
alter table job add constraint job_tombstone_claimed check (tombstone is not true or claimed_by is not null);
