-- The time until which a node has applied all changes of the VPC. Null if the time is not known. Even after rows of
-- vpc_change are deleted, this time can be compared with the end of a job; a generation cannot
-- (berth_unproven_releases).
alter table vpc_realization add column applied_until timestamptz;
