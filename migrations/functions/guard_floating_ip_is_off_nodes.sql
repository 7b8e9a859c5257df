-- Returns a node that can still answer for the floating IP {floating_ip_id}; 'true' if none exists. A node can still
-- answer if it has an unfinished job for this floating IP, must still undo such a job, or could not release the
-- floating IP. Ignores removed nodes.
create or replace function guard_floating_ip_is_off_nodes(args jsonb) returns text language sql volatile as $$
  select coalesce(
    (select target_cn::text from (
       select target_cn from job
        where payload ? 'floating_ip_id' and payload->>'floating_ip_id' = args->>'floating_ip_id'
          and (state in ('pending', 'in_progress') or tombstone)
       union all
       select berth_unproven_releases((args->>'floating_ip_id')::uuid)) held
      where exists (select from cn where server_uuid = target_cn) order by target_cn limit 1),
    'true') $$;
