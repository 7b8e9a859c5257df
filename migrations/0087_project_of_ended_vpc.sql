-- The project of a deleted VPC. A node that still has the VPC can have floating IPs of this project only. Null if an
-- earlier release deleted the VPC.
alter table ended_vpc add column project_id uuid;
