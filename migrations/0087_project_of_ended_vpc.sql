-- The project of a deleted VPC: a node that still has the VPC can hold the floating IPs of this project only. Null for a
-- VPC that an earlier release deleted.
alter table ended_vpc add column project_id uuid;
