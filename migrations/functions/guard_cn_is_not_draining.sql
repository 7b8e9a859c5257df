-- Returns the running drain or evacuation of the node {server_uuid}, or 'true' if none exists.
create or replace function guard_cn_is_not_draining(args jsonb) returns text language sql volatile as $$
  select coalesce((select id::text from saga
                    where refs @> jsonb_build_array(jsonb_build_object('scope', 'cn', 'id', args->>'server_uuid'))
                      and saga in ('cn-drain', 'cn-evacuate') and state = 'running' limit 1), 'true') $$;
