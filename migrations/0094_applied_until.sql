-- The time until which a node has applied all changes of the VPC. Null if it is not known. Unlike a generation, it can be
-- compared with the end of a job after the changes were folded (berth_unproven_releases).
alter table vpc_realization add column applied_until timestamptz;
