-- Returns how many bytes of the disks of a node's instances exist on the node already. The disks of an instance that is
-- being evacuated to the node do not exist there yet: their applied_bytes are from the dead node.
create or replace function berth_made_bytes(of_cn uuid) returns bigint language sql stable as $$
  select coalesce(sum(least(coalesce(d.applied_bytes, 0), d.size_bytes)), 0)::bigint
    from instance i join disk d on d.instance_id = i.id
   where i.host_cn_uuid = of_cn and not exists (
     select from migration g where g.instance_id = i.id and g.target_cn = of_cn and not berth_migration_ended(g.state)) $$;
