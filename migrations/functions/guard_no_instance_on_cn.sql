-- Returns whether the node {server_uuid} hosts no instance.
create or replace function guard_no_instance_on_cn(args jsonb) returns boolean language sql volatile as $$
  select not exists (select from instance where host_cn_uuid = (args->>'server_uuid')::uuid) $$;
