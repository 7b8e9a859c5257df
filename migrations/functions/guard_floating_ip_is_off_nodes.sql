-- Returns a node that can still answer for the floating IP {floating_ip_id}, because the node has unfinished jobs for
-- this floating IP; 'true' if none exists. A removed node does not count.
create or replace function guard_floating_ip_is_off_nodes(args jsonb) returns text language sql volatile as $$
  select coalesce(
    (select target_cn::text from job
      where payload ? 'floating_ip_id' and payload->>'floating_ip_id' = args->>'floating_ip_id'
        and (state in ('pending', 'in_progress') or tombstone)
        and exists (select from cn where server_uuid = target_cn) order by seq limit 1),
    'true') $$;
