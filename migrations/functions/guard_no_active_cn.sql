-- Returns whether the node {server_uuid} is neither approved nor being set up. A node that is in use keeps its boot
-- record.
create or replace function guard_no_active_cn(args jsonb) returns boolean language sql volatile as $$
  select not exists (select from cn where server_uuid = (args->>'server_uuid')::uuid
    and state in ('approved', 'setting_up')) $$;
