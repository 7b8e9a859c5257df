-- Returns how many bytes of the disks of a node's instances exist on the node already.
create or replace function berth_made_bytes(of_cn uuid) returns bigint language sql stable as $$
  select coalesce(sum(least(coalesce(d.applied_bytes, 0), d.size_bytes)), 0)::bigint
    from instance i join disk d on d.instance_id = i.id where i.host_cn_uuid = of_cn $$;
