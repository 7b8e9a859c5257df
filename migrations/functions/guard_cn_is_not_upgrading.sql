-- Returns {operation_id} if this operation exists, in any state. Otherwise returns the drain, evacuation or upgrade of
-- the node {server_uuid} that is running or being rolled back, or 'true' if no such operation exists.
create or replace function guard_cn_is_not_upgrading(args jsonb) returns text language sql volatile as $$
  select coalesce(
    (select id::text from saga where id = (args->>'operation_id')::uuid),
    (select id::text from saga
      where refs @> jsonb_build_array(jsonb_build_object('scope', 'cn', 'id', args->>'server_uuid'))
        and saga in ('cn-drain', 'cn-evacuate', 'cn-upgrade') and state in ('running', 'unwinding') limit 1),
    'true') $$;
