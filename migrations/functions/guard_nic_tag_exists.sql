-- Returns whether the NIC tag {name} exists. The caller must hold the tag's lock.
create or replace function guard_nic_tag_exists(args jsonb) returns boolean language sql volatile as $$
  select exists (select from nic_tag where name = args->>'name') $$;
