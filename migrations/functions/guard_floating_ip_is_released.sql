-- Returns 'true' if the floating IP {floating_ip_id} can be attached to the NIC {nic_id} of the node {server_uuid}.
-- Otherwise returns a node that prevents the attach, with the reason and what to do. Ignores nodes that were not seen
-- in the last {live_s} seconds. Another node prevents the attach while it may answer for the address:
-- - Its release of the address has not ended, or has failed.
-- - It has not undone a claim that was cancelled or expired.
-- The node {server_uuid} itself prevents the attach while it releases the address from this NIC. A pending release and
-- a claim to undo count only if the node is approved, because a node that is not approved gets no jobs.
create or replace function guard_floating_ip_is_released(args jsonb) returns text language sql volatile as $$
  select coalesce(
    (select held || case when has_failed then ', which failed to release it; ask an operator to repair the network ' ||
                                              'of this node, or attach the address to an instance on it'
                         else ', which has not released it yet; try again in a minute' end
       from (
         select target_cn as held, kind = 'fip_release' and payload->>'nic_id' = args->>'nic_id' as is_of_nic,
                false as has_failed
           from job
          where payload ? 'floating_ip_id' and payload->>'floating_ip_id' = args->>'floating_ip_id'
            and (kind = 'fip_release' and state = 'in_progress'
                 or (kind = 'fip_release' and state = 'pending' or kind = 'fip_claim' and tombstone)
                    and exists (select from cn where server_uuid = target_cn and cn.state = 'approved'))
         union all
         select berth_unproven_releases((args->>'floating_ip_id')::uuid), false, true) h
       join cn_signal s on s.server_uuid = held
      where (held <> (args->>'server_uuid')::uuid or is_of_nic)
        and s.last_seen >= berth_now() - make_interval(secs => (args->>'live_s')::int)
      order by has_failed desc, held limit 1),
    'true') $$;
