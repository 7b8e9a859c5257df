-- Returns whether the node {server_uuid} has no placement reservation that is still valid.
create or replace function guard_no_reservation_on_cn(args jsonb) returns boolean language sql volatile as $$
  select not exists (select from placement_reservation
    where server_uuid = (args->>'server_uuid')::uuid and expires_at > berth_now()) $$;
