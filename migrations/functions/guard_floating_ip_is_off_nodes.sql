-- Returns a node that can still answer for the floating IP {floating_ip_id}; 'true' if none exists. A removed node does
-- not count. A node can still answer while it has an unfinished job for this floating IP. If it could not release the
-- address, it can also answer until it has applied a document of the VPC that is not older than the end of the job, or
-- has confirmed that it removed the VPC. If the NIC was deleted, each VPC of the project counts, because the job does
-- not name the VPC.
create or replace function guard_floating_ip_is_off_nodes(args jsonb) returns text language sql volatile as $$
  select coalesce(
    (select j.target_cn::text from job j
      where j.payload ? 'floating_ip_id' and j.payload->>'floating_ip_id' = args->>'floating_ip_id'
        and (j.state in ('pending', 'in_progress') or j.tombstone
             or j.kind = 'fip_release' and j.state = 'failed' and exists (
               select from vpc_realization r
                 left join vpc v on v.id = r.vpc_id
                 left join nic n on n.id = (j.payload->>'nic_id')::uuid
                where r.server_uuid = j.target_cn
                  and case when n.id is not null then r.vpc_id = n.vpc_id
                           else v.id is null or v.project_id = (
                             select project_id from floating_ip where id = (args->>'floating_ip_id')::uuid) end
                  -- The generation at the end of the job. If maintenance has folded changes since, it is too high.
                  and coalesce(r.applied_generation, -1) < berth_vpc_generation(r.vpc_id) - (
                    select count(*) from vpc_change c where c.vpc_id = r.vpc_id and c.at > j.completed_at)))
        and exists (select from cn where server_uuid = j.target_cn) order by j.seq limit 1),
    'true') $$;
