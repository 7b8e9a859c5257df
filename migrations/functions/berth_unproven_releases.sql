-- Lists the nodes that could not release a floating IP and may still answer for it. Such a node's release job failed.
-- Since then, the node has neither applied a newer document of the NIC's VPC nor confirmed that it removed the VPC. A
-- job that a process of an earlier release created does not name the VPC. If the NIC of such a job was deleted, each
-- VPC of the project counts. A deleted VPC also counts if its project is not known.
create or replace function berth_unproven_releases(of_floating_ip uuid) returns setof uuid language sql stable as $$
  select j.target_cn from job j
   where j.payload ? 'floating_ip_id' and j.payload->>'floating_ip_id' = of_floating_ip::text
     and j.kind = 'fip_release' and j.state = 'failed'
     -- Leaves out a job if a later release by this node, for the same NIC, succeeded.
     and not exists (
       select from job k
        where k.payload ? 'floating_ip_id' and k.payload->>'floating_ip_id' = of_floating_ip::text
          and k.kind = 'fip_release' and k.state = 'completed' and k.seq > j.seq
          and k.target_cn = j.target_cn and k.payload->>'nic_id' = j.payload->>'nic_id')
     and exists (
       select from vpc_realization r
         left join vpc v on v.id = r.vpc_id
         left join ended_vpc e on e.vpc_id = r.vpc_id
         left join nic n on n.id = (j.payload->>'nic_id')::uuid
        where r.server_uuid = j.target_cn
          and coalesce(r.vpc_id = coalesce((j.payload->>'vpc_id')::uuid, n.vpc_id),
                       coalesce(v.project_id, e.project_id) =
                       (select project_id from floating_ip where id = of_floating_ip), true)
          and (r.applied_until >= j.completed_at) is not true
          -- Reports that release 0.1.0 stored have no applied_until, so generations are compared: the applied one with
          -- the VPC's generation at the end of the job. If maintenance has deleted later rows of vpc_change, the second
          -- one is too high, and the node is listed although it may have applied a newer document.
          and coalesce(r.applied_generation, -1) < berth_vpc_generation(r.vpc_id) - (
            select count(*) from vpc_change c where c.vpc_id = r.vpc_id and c.at > j.completed_at)) $$;
