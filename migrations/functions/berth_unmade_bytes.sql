-- Returns how many bytes of the disks of a node's instances the node has not created yet. The node's capacity report
-- does not count these bytes as used. The disks of an instance that is being evacuated to the node count with their
-- whole size.
create or replace function berth_unmade_bytes(of_cn uuid) returns bigint language sql stable as $$
  select coalesce(sum(d.size_bytes - case when i.evacuates then 0 else least(coalesce(d.applied_bytes, 0), d.size_bytes)
                                     end), 0)::bigint
    from (select id, exists (select from migration g where g.instance_id = instance.id and g.target_cn = of_cn
                                and not berth_migration_ended(g.state)) as evacuates
            from instance where host_cn_uuid = of_cn) i join disk d on d.instance_id = i.id $$;
