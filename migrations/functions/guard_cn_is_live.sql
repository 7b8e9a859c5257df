-- Returns whether the node {server_uuid} was seen in the last {live_s} seconds.
create or replace function guard_cn_is_live(args jsonb) returns boolean language sql volatile as $$
  select exists (select from cn_signal where server_uuid = (args->>'server_uuid')::uuid
                    and last_seen >= berth_now() - make_interval(secs => (args->>'live_s')::int)) $$;
