-- Which status of a node is its latest, by the node's own clock: one that is sent again or comes behind a later one is no
-- news. status_id names the message that told it, so that who told it knows whether it counts.
alter table cn_signal add column status_made_at timestamptz, add column status_id uuid;

create function guard_status_is_last(args jsonb) returns boolean language sql volatile as $$
  select exists (select from cn_signal
                  where server_uuid = (args->>'server_uuid')::uuid and status_id = (args->>'status_id')::uuid) $$;
