-- Returns whether {status_id} is the newest status report of the node {server_uuid}.
create or replace function guard_status_is_last(args jsonb) returns boolean language sql volatile as $$
  select exists (select from cn_signal
                  where server_uuid = (args->>'server_uuid')::uuid and status_id = (args->>'status_id')::uuid) $$;
