-- Returns whether the node {server_uuid} has fewer than {max} live claims. The caller must hold the lock
-- claims:<server_uuid>. An expired claim does not count, even before its row is deleted.
create or replace function guard_node_has_room_for_claim(args jsonb) returns boolean language sql volatile as $$
  select count(*) < (args->>'max')::bigint from enrolment_claim
   where server_uuid = (args->>'server_uuid')::uuid and expires_at > berth_now() $$;
