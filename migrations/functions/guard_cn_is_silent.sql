-- Returns 'true' if the node {server_uuid} was not seen in the last {live_s} seconds, otherwise the time at which it
-- was seen last.
create or replace function guard_cn_is_silent(args jsonb) returns text language sql volatile as $$
  select coalesce((select to_char(last_seen at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') from cn_signal
                    where server_uuid = (args->>'server_uuid')::uuid
                      and last_seen >= berth_now() - make_interval(secs => (args->>'live_s')::int)), 'true') $$;
