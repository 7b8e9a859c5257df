-- Returns how many bytes of the disks of a node's instances the node has not created yet. The node's capacity report
-- does not count these bytes as used.
create or replace function berth_unmade_bytes(of_cn uuid) returns bigint language sql stable as $$
  select coalesce(sum(d.size_bytes - coalesce(d.applied_bytes, 0)), 0)::bigint
    from instance i join disk d on d.instance_id = i.id
   where i.host_cn_uuid = of_cn and (d.applied_bytes is null or d.applied_bytes < d.size_bytes) $$;
