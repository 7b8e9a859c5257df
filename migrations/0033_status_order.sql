-- The node's own clock determines which status of a node is the latest. A status that is repeated, or that arrives
-- after a later one, is ignored. status_id is the id of the message that reported the latest status.
alter table cn_signal add column status_made_at timestamptz, add column status_id uuid;

create function guard_status_is_last(args jsonb) returns boolean language sql volatile as $$
  select exists (select from cn_signal
                  where server_uuid = (args->>'server_uuid')::uuid and status_id = (args->>'status_id')::uuid) $$;
